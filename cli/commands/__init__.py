"""One module of verbs per noun."""
