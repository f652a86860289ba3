"""Reveal search: plans up to the next reveal, judged by play in sampled worlds and by a value.

Between two reveals (a face-down card turned up, or unknown cards dealt from the stock) nothing is
left to chance. So a decision is a *plan*: moves that end with a reveal. `reach` finds all reveals
that can be reached, `candidates` proposes plans, `value` holds the learned value, `judging` plays
the plans out in the same sampled worlds, `search` is all this in one kernel, `room` what it works
in, and `agent` the player. `labels` makes what the value is trained on.
"""
