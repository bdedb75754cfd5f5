"""Collecting people's ratings: items, the file that loses nothing, the local web page and its server, agreement, export."""
