"""The demo's agent: a tool loop over a model, served as an AG-UI 1.0 endpoint (rules AL-1 to AL-9).

The way through: `endpoint` (HTTP in, SSE out) ▸ `intake` (is the input usable?) ▸ `loop` (turns, tools, endings)
▸ `models` (what to say and call next) and `tools` with `backend` (what is really done).
"""
