"""The recipe of the head that fills gaps."""
