"""Collect ratings of people: items, a durable file, a local web page and its server, agreement, export."""
