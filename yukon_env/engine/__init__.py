"""The rules, compiled; no Gymnasium in here."""
