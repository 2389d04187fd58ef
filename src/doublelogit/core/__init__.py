"""The formulas: losses per row, products with the features, objectives and how to minimise them."""
