"""Models of tables: what is doubtful of one, how it is fitted, and its rows to predict."""
