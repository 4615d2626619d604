"""pydantic-ai 1.x: what 2.x is put through (test_pydantic_ai), and nothing else."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

_spec = spec_from_file_location("pydantic_ai_scenarios", Path(__file__).with_name("test_pydantic_ai.py"))
assert _spec is not None
assert _spec.loader is not None
_shared = module_from_spec(_spec)
_spec.loader.exec_module(_shared)
_shared.MAJOR = "1."
globals().update({name: value for name, value in vars(_shared).items() if name.startswith("test_")})
