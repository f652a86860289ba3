"""What makes a variant hard: deals measured by solver and agents, and what follows from them.

`python -m experiments.difficulty` measures; the result is a folder of Parquet files, one per
variant, with a row per deal. The modules `winnability`, `one_rule`, `luck`, `predict` and
`examples` each answer one question from such folders, and `select` chooses deals from them.
"""
