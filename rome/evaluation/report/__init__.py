"""Reports: a folder with tables, figures, one self-contained page and the signature of everything."""
