"""The corpus: tables of packages of the Python registry, declared, read, encoded and split."""
