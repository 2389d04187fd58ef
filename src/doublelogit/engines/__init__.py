"""Ways to map over blocks of rows, one answer."""
