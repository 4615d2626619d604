"""OpenAI-compatible endpoints as targets: tools that are Python functions, several turns, and whatever a server may answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from scenarios import TWO, assert_none, assert_raised, assert_two

from quickchecks import EvalResult, checks, run_evals_sync
from quickchecks._evalfile import load_eval_file
from quickchecks._targets import endpoints
from quickchecks.errors import SettingsError, TargetError

Answer = Callable[[list[dict[str, Any]]], Any]


class Server:
    """A small server that answers with what a function makes of the messages."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.answer: Answer = lambda messages: {"content": "Hello there."}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append(body)
                server.headers.append(dict(self.headers))
                server.paths.append(self.path)
                message = server.answer(body["messages"])
                status, payload = 200, message
                if isinstance(message, tuple):
                    status, payload = message
                elif isinstance(message, dict) and "choices" not in message:
                    finish = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
                    payload = {
                        "choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish}],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 2}},
                    }
                data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    thread = threading.Thread(target=lambda: found.http.serve_forever(0.01), daemon=True)
    thread.start()
    yield found
    found.http.shutdown()
    found.http.server_close()


def call(name: str, identity: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": identity, "type": "function", "function": function}]}


def two(messages: list[dict[str, Any]]) -> Any:
    results = sum(message["role"] == "tool" for message in messages)
    return [call("get_weather", "c1", city="Paris"), call("book_hotel", "c2", city="Paris"), {"content": TWO}][results]


ran: list[str] = []


def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    ran.append(city)
    return "Sunny"


async def book_hotel(city: str) -> str:
    raise ValueError("no rooms left")


TOOLS = [get_weather, book_hotel]


def evaluated(server: Server, data: Any = ("Plan",), **options: Any) -> EvalResult:
    ran.clear()
    return run_evals_sync(
        list(data), server.url, gates=[checks.excludes("never said")], **{"model": "small", "tools": TOOLS, **options}
    )


def error_of(result: EvalResult) -> str:
    error = result.items[0].error
    assert error is not None
    return error.message


def test_two(server: Server) -> None:
    server.answer = two
    result = evaluated(server)
    run = assert_two(result.items[0].run)
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens, run.usage.requests) == (30, 15, 6, 3)
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.type, failure.message) == ("ValueError", "no rooms left")


def test_none(server: Server) -> None:
    assert_none(evaluated(server).items[0].run)


def test_tools_are_described_by_their_signatures(server: Server) -> None:
    evaluated(server)
    weather = server.requests[0]["tools"][0]["function"]
    assert (weather["name"], weather["description"]) == ("get_weather", "The weather in a city.")
    assert weather["parameters"]["type"] == "object"
    assert weather["parameters"]["properties"]["city"] == {"type": "string"}
    assert weather["parameters"]["required"] == ["city"]


def test_a_server_that_breaks_in_the_middle_leaves_what_was_done(server: Server) -> None:
    def answer(messages: list[dict[str, Any]]) -> Any:
        return (500, b"overloaded") if sum(message["role"] == "tool" for message in messages) == 2 else two(messages)

    server.answer = answer
    result = evaluated(server)
    assert result.verdict == "failed"
    assert "answered 500" in error_of(result)
    assert "overloaded" in error_of(result)
    assert_raised(result.items[0].run)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_call_that_was_cut_off_is_not_run(server: Server, finish: str) -> None:
    server.answer = lambda messages: {
        "content": "Let me check",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Par'}}],
        "finish_reason": finish,
    }
    result = evaluated(server)
    assert ran == []
    assert "cut off" in error_of(result)
    assert result.items[0].run is not None
    assert checks.no_tool_errors().score(result.items[0].run).outcome != "passed"


def test_a_conversation_is_sent_whole(server: Server) -> None:
    def answer(messages: list[dict[str, Any]]) -> Any:
        asked = [message["content"] for message in messages if message["role"] == "user"]
        return {"content": f"You said {asked}"}

    server.answer = answer
    result = evaluated(server, [{"inputs": ["My name is Ada.", "Who am I?"]}], target_options={"system": "Be brief."})
    run = result.items[0].run
    assert run is not None
    assert run.text == "You said ['My name is Ada.'] You said ['My name is Ada.', 'Who am I?']"
    assert [message["role"] for message in server.requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "user", "assistant"]


def test_an_unknown_tool_and_bad_arguments_are_told_to_the_model(server: Server) -> None:
    def answer(messages: list[dict[str, Any]]) -> Any:
        results = sum(message["role"] == "tool" for message in messages)
        calls = [
            call("refund", "c1"),
            call("get_weather", "c2", town="Paris"),
            call("get_weather", "c3", city=5),
            call("get_weather", "c4"),
        ]
        return calls[results] if results < 4 else {"content": "done"}

    server.answer = answer
    run = evaluated(server).items[0].run
    assert run is not None
    failures = [one.failure() for one in run.tool_calls]
    assert all(failures)
    told = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert "there is no tool refund" in told[0]
    assert "takes no argument 'town'" in told[1]
    assert "Expected `str`, got `int`" in told[2]
    assert "missing required field `city`" in told[3]
    assert ran == []


def test_a_model_that_never_ends_is_ended(server: Server) -> None:
    server.answer = lambda messages: call("get_weather", f"c{len(messages)}", city="Paris")
    result = evaluated(server, target_options={"max_rounds": 3})
    assert "still called tools after 3 rounds" in error_of(result)
    assert len(ran) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"<html>", "no JSON"),
        ({"choices": []}, "no chat completion"),
        ({"choices": [5]}, "no chat completion"),
        ({"choices": [{"message": {"tool_calls": 5}}]}, "no chat completion"),
        ({"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}, "without a name"),
        ((404, b'{"error": "no such model"}'), "answered 404"),
        ((302, b""), "answered 302"),
        ((200, b"[1]"), "no chat completion"),
    ],
)
def test_whatever_a_server_answers_is_an_error_that_says_so(server: Server, answer: Any, message: str) -> None:
    server.answer = lambda messages: answer
    result = evaluated(server)
    assert message in error_of(result)
    assert result.verdict == "failed"


def test_nobody_there() -> None:
    result = run_evals_sync(["a"], "http://127.0.0.1:1/v1", gates=[checks.includes("x")], model="m")
    assert "cannot be reached" in error_of(result)
    assert "is the server running?" in error_of(result)


def test_no_key_is_sent_unless_asked_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-one")
    evaluated(server)
    assert "Authorization" not in server.headers[0]
    evaluated(server, target_options={"api_key_env": "OPENAI_API_KEY"})
    assert server.headers[1]["Authorization"] == "Bearer secret-one"


def test_mocks_answer_in_place_of_the_tools(server: Server) -> None:
    server.answer = two
    mocks = [{"tool": "get_weather", "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}]
    result = evaluated(server, [{"id": "a", "input": "Plan", "tool_mocks": mocks}])
    assert ran == []
    assert_two(result.items[0].run)
    assert result.items[0].error is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": None}, "needs the name of a model"),
        ({"target_options": {"modle": "x"}}, "an endpoint takes no 'modle': did you mean 'model'"),
        ({"tools": [5]}, "a tool is a function, not 5"),
        ({"tools": [get_weather, get_weather]}, "two tools are called get_weather"),
        ({"tools": [lambda *everything: 1]}, "by their names alone"),
        ({"target_options": {"api_key_env": "NO_SUCH_VARIABLE_HERE"}}, "NO_SUCH_VARIABLE_HERE is not set"),
        ({"target_options": {"settings": 5}}, "settings is a mapping"),
        ({"target_options": {"max_rounds": 0}}, "max_rounds is a number above 0"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(server: Server, options: Any, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        evaluated(server, **options)
    assert server.requests == []


@pytest.mark.parametrize("url", ["http://", "http://[", "https:///v1"])
def test_an_address_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(TargetError, match="no address of an endpoint"):
        run_evals_sync(["a"], url, gates=[checks.includes("x")], model="m")


def test_a_model_belongs_to_an_endpoint() -> None:
    with pytest.raises(SettingsError, match="model= belongs to the address of an endpoint"):
        run_evals_sync(["a"], lambda text: text, gates=[checks.includes("x")], model="m")


def test_a_text_that_was_cut_off_is_known_to_be(server: Server) -> None:
    server.answer = lambda messages: {"content": "The answer is", "finish_reason": "length" if len(messages) == 1 else "stop"}
    run = evaluated(server, [{"inputs": ["a", "b"]}]).items[0].run
    assert run is not None
    assert any("cut off by the limit of tokens" in gap.note for gap in run.gaps)
    run = evaluated(server, ["a"]).items[0].run
    assert run is not None
    assert run.metadata is not None
    assert run.metadata["finish_reason"] == "length"
    server.answer = lambda messages: {"content": "All."}
    run = evaluated(server, ["a"]).items[0].run
    assert run is not None
    assert not any("cut off" in gap.note for gap in run.gaps)


def test_calls_that_an_answer_ends_with_and_does_not_show_are_missed(server: Server) -> None:
    server.answer = lambda messages: {"content": "Booked.", "finish_reason": "tool_calls"}
    run = evaluated(server).items[0].run
    assert run is not None
    assert checks.max_tool_calls(0).score(run).outcome == "no_evidence"


class Halt(BaseException):
    pass


def leaving() -> str:
    raise SystemExit("the tool leaves")


async def interrupting() -> str:
    raise KeyboardInterrupt("the tool interrupts")


def halting() -> str:
    raise Halt("the tool halts")


@pytest.mark.parametrize(("tool", "kind"), [(leaving, "SystemExit"), (interrupting, "KeyboardInterrupt"), (halting, "Halt")])
def test_whatever_a_tool_raises_is_its_failure(server: Server, tool: Callable[..., object], kind: str) -> None:
    name = getattr(tool, "__name__", "")
    server.answer = lambda messages: call(name, "c1") if len(messages) == 1 else {"content": "It failed."}
    result = evaluated(server, tools=[tool])
    run = result.items[0].run
    assert result.items[0].error is None
    assert run is not None
    failure = run.tool_calls[0].failure()
    assert failure is not None
    assert (failure.type, failure.message.startswith("the tool ")) == (kind, True)


SECRET = "S3CR3T/of+mine=="
HEADER = {"X-Key": SECRET}
GIVEN: list[dict[str, Any]] = [
    {"api_key": SECRET},
    {"headers": HEADER},
    {"headers": {"Authorization": f"Bearer {SECRET}"}},
    {"settings": {"extra": {"api_key": SECRET}}},
    {"settings": {"user": SECRET}},
]
ECHOES: list[Any] = [
    (401, f"no such key: {SECRET}".encode()),
    (401, json.dumps({"error": {"message": f"bad header Authorization: Bearer {SECRET}"}}).encode()),
    (401, f"Authorization: Bearer {SECRET[:7]}".encode()),
    (401, b"." * 18 + SECRET.encode() + b"." * 300 + SECRET.encode()),
    (401, b" " * 4090 + SECRET.encode()),
    (401, b"/v1/chat/completions?key=S3CR3T%2Fof%2Bmine%3D%3D"),
    f"<html>{SECRET}".encode(),
    {"choices": [{"message": {"tool_calls": [{"said": SECRET}]}}]},
    {"choices": [SECRET]},
    (200, json.dumps({"error": SECRET}).encode()),
]


@pytest.mark.parametrize("given", [*GIVEN, None])
@pytest.mark.parametrize("echo", ECHOES)
def test_what_a_server_repeats_of_a_secret_is_not_shown(server: Server, given: Any, echo: Any, tmp_path: Path) -> None:
    server.answer = lambda messages: echo
    if given is None:
        server.url += "?key=S3CR3T%2Fof%2Bmine%3D%3D"
    result = evaluated(server, target_options=given)
    result.save(tmp_path / "result.json")
    item = result.items[0]
    assert item.error is not None
    explained = [score.reason for score in item.scores]
    said = "".join([(tmp_path / "result.json").read_text(), str(item.error), *explained, *result.warnings])
    assert "S3CR" not in said
    assert "mine" not in said


def test_the_query_of_an_address_is_sent_and_never_shown(server: Server) -> None:
    server.url += "?key=S3CR3T&api-version=1"
    evaluated(server)
    assert server.paths == ["/v1/chat/completions?key=S3CR3T&api-version=1"]
    with pytest.raises(TargetError, match="needs the name of a model") as caught:
        evaluated(server, model=None)
    assert "S3CR" not in str(caught.value)
    result = run_evals_sync(["a"], "http://127.0.0.1:1/v1?key=S3CR3T", gates=[checks.includes("x")], model="m")
    assert "http://127.0.0.1:1/v1/chat/completions cannot be reached" in error_of(result)
    assert "S3CR" not in str(result.items[0].error)


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("http://user:S3CR@127.0.0.1:1/v1", {}, "at 127.0.0.1 holds a user or a password"),
        ("http://user:S3CR/x@127.0.0.1:1/v1", {}, "no address of an endpoint"),
        ("http://127.0.0.1:S3CR/v1", {}, "no address of an endpoint"),
        ("http://a b?S3CR", {}, "no address of an endpoint"),
        ("", {"headers": ["S3CR"]}, "headers is a mapping, not a value of type list"),
        ("", {"headers": {"X-Key": "S3CR\nX: y"}}, "the header X-Key is a text of one line"),
        ("", {"headers": {"X-Key": ["S3CR"]}}, "the header X-Key is a text of one line"),
        ("", {"headers": {"X-Key": "S3CR\u2014"}}, "the header X-Key is a text of one line"),
        ("", {"headers": {"X: S3CR": "y"}}, "no name of a header"),
        ("", {"api_key": "S3CR\n"}, "api_key is a text of one line"),
        ("", {"api_key": ["S3CR"]}, "api_key is a text of one line"),
        ("", {"api_key_env": "sk-S3CR"}, "the variable is not set, which api_key_env names"),
        ("", {"settings": ["S3CR"]}, "settings is a mapping, not a value of type list"),
    ],
)
def test_what_is_refused_is_refused_without_its_secrets(server: Server, url: str, options: Any, message: str) -> None:
    server.url = url or server.url
    with pytest.raises(TargetError, match=message) as caught:
        evaluated(server, target_options=options)
    assert "S3CR" not in str(caught.value)
    assert server.requests == []


def test_answers_are_read_where_they_hold_nobody_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[str] = []
    load_run = endpoints.load_run  # type: ignore[attr-defined]

    def noted(*given: Any, **options: Any) -> Any:
        read_in.append(threading.current_thread().name)
        return load_run(*given, **options)

    monkeypatch.setattr(endpoints, "load_run", noted)
    evaluated(server)
    server.answer = lambda messages: (500, b"overloaded")
    evaluated(server)
    assert read_in == ["quickchecks target"] * 2


@pytest.mark.parametrize(
    "url", ["http://user:S3CR@127.0.0.1/v1", "http://127.0.0.1/v1?key=S3CR", "http://u:S3/CR?S3CR@127.0.0.1/v1"]
)
def test_an_eval_file_shows_no_secret_of_an_address(url: str, tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(f'target: "{url}"\ndata: [a]\ngates: [includes: a]')
    with pytest.raises(TargetError, match="needs the name of a model") as caught:
        load_eval_file(str(path), {}).load_target()
    assert "S3" not in str(caught.value)
