"""Test vectors of cosignatures and of policies (``docs/proof/witnesses.md``)."""

from collections.abc import Iterator

from tests.support.odd_keys import WEAK
from tests.support.plain_bundles import (
    LOG,
    OTHER,
    SERVER,
    SIGNED_AT,
    Key,
    Signer,
    Witness,
    cut,
    finished,
    linked,
    sealed,
    signed,
    written,
)
from tests.support.vectors import ORDER, Vector, changed

LOG_KEY = Witness(LOG, SERVER, 1)
A, B, C = (Witness(f"{name}.example", Signer(number)) for number, name in enumerate("abc", 2))


def cosigned() -> Iterator[Vector]:
    """Yield the vectors of the step ``cosigned``."""
    plain = written(finished())
    policy = _policy("witness a", "witness b", "witness c", "group two 2 a b c", "quorum two")
    for name, note, proved in (
        ("two of three witnesses have cosigned", _with_notes(A, C), True),
        ("the three witnesses have cosigned", _with_notes(A, B, C), True),
        ("one of three witnesses has cosigned", _with_notes(B), False),
        ("one witness has cosigned twice", _with_notes(A, A), False),
        ("a witness that the policy does not know has cosigned", _with_notes(A, Witness("d.example", OTHER)), False),
        ("a witness has cosigned under another name", _with_notes(A, Witness("x.example", Signer(3))), False),
        ("no witness has cosigned", plain, False),
        ("no note", written(sealed(finished(), version=5, note=False)), False),
        ("no inclusion", changed(cut("inclusion"), signed), False),
    ):
        steps = ORDER[:3] if name == "no inclusion" else ORDER
        yield Vector(name, note, (*steps, "cosigned") if proved else steps, policy=policy)
    for name, lines, proved in (
        ("a policy that asks for no witness", ("quorum none",), True),
        ("a policy of one witness", ("witness a", "quorum a"), True),
        ("groups of groups", ("witness a", "witness b", "group x any a", "group y all x b", "quorum y"), True),
        ("a group that lacks one", ("witness a", "witness b", "witness c", "group x all a b c", "quorum x"), False),
    ):
        yield Vector(name, _with_notes(A, B), (*ORDER, "cosigned") if proved else ORDER, policy=_policy(*lines))
    without_log = _policy("witness a", "quorum a").split("\n", 1)[1]
    yield Vector("a policy without a log", _with_notes(A), policy=without_log)
    both_logs = f"log {Witness('other.example', OTHER, 1).vkey}\n{_policy('quorum none')}"
    yield Vector("the second of two logs has signed", plain, (*ORDER, "cosigned"), policy=both_logs)
    one_witness = _policy("witness a", "quorum a")
    yield Vector("one honest witness: the first story", _with_notes(A), (*ORDER, "cosigned"), policy=one_witness)
    yield Vector(
        "one honest witness: a second story in another log, signed under the name of the first", _second_story(), ORDER,
        ("cosigned", "inclusion.note"), policy=one_witness,
    )  # fmt: skip
    unknown = f"log {Witness('other.example', OTHER, 1).vkey}\nquorum none\n"
    forged = A.line(bytes(8) + bytes(64))
    late = A.line((1 << 63).to_bytes(8, "big") + bytes(64))
    for name, packed, asked in (
        ("another log", plain, unknown),
        ("a forged cosignature", _with_notes(ending=forged), policy),
        ("a cosignature and a forged one", _with_notes(A, ending=forged), policy),
        ("a cosignature beyond all time", _with_notes(ending=late), policy),
        ("a cosignature that is too short", _with_notes(ending=A.line(bytes(71))), policy),
        ("a cosignature of another checkpoint", _with_notes(ending=_foreign_cosignature()), policy),
        ("a second, forged signature of the log", _with_notes(ending=LOG_KEY.line(bytes(64))), policy),
    ):
        yield Vector(name, packed, ORDER, ("cosigned", "inclusion.note"), policy=asked)


def policies() -> Iterator[Vector]:
    packed = written(finished())
    for name, lines in (
        ("comments, empty lines and tabs", "# a policy\n\n \t# of one line\nquorum\t none "),
        ("addresses", f"log {LOG_KEY.vkey} https://a.example/\nwitness a {A.vkey} https://b.example/\nquorum none\n"),
        ("a key of 494 characters, each of two units of UTF-16", f"witness a {_long_name(440)}\nquorum none"),
        ("text beyond ASCII", f"witness é {A.vkey}\ngroup \u2028 any é\nquorum none"),
    ):
        proved = (*ORDER, "cosigned") if "log " in lines else ORDER
        yield Vector(name, packed, proved, policy=lines)
    log, a, b = f"log {LOG_KEY.vkey}", f"witness a {A.vkey}", f"witness b {B.vkey}"
    groups = "".join(f"group g{number} any {f'g{number - 1}' if number else 'a'}\n" for number in range(256))
    same, short = Witness("z.example", Signer(2)).vkey, A.vkey.rsplit("+", 1)[0] + "+BAAA"
    for name, text, place in (
        ("an empty policy", "", ""),
        ("no quorum", f"{log}\n{a}", ""),
        ("two quorums", "quorum none\nquorum none", "line 2"),
        ("a quorum that is not defined", "quorum a", "line 1"),
        ("a quorum that is defined below", f"quorum a\n{a}", "line 1"),
        ("a log without key", "log", "line 1"),
        ("a log with too many words", f"{log} x y\nquorum none", "line 1"),
        ("a log with the key of a witness", f"log {A.vkey}\nquorum none", "line 1"),
        ("a witness with the key of a log", f"witness a {LOG_KEY.vkey}\nquorum none", "line 1"),
        ("a witness without key", "witness a\nquorum none", "line 1"),
        ("a key with another id", f"{a}\nwitness b {B.vkey.replace('+', '+0', 1)}\nquorum none", "line 2"),
        ("a key that is not base64", f"witness a {A.vkey}!\nquorum none", "line 1"),
        ("a key whose id has capitals", f"witness a {_capitals(A.vkey)}\nquorum none", "line 1"),
        ("a key of another length", f"witness a {short}\nquorum none", "line 1"),
        ("a name that is taken", f"{a}\n{b.replace('b', 'a', 1)}\nquorum none", "line 2"),
        ("a group with the name of a witness", f"{a}\ngroup a any a\nquorum none", "line 2"),
        ("a witness with the name none", f"witness none {A.vkey}\nquorum none", "line 1"),
        ("a key that stands twice", f"{a}\nwitness b {A.vkey}\nquorum none", "line 2"),
        ("a key that stands twice, by another name", f"{a}\nwitness b {same}\nquorum none", "line 2"),
        ("a group of itself", f"{a}\ngroup g any g\nquorum none", "line 2"),
        ("a group with an unknown member", f"{a}\ngroup g any b\nquorum none", "line 2"),
        ("a member of two groups", f"{a}\ngroup g any a\ngroup h any a\nquorum none", "line 3"),
        ("a member that stands twice in a group", f"{a}\ngroup g any a a\nquorum none", "line 2"),
        ("a group without members", f"{a}\ngroup g any\nquorum none", "line 2"),
        ("a group of which none must cosign", f"{a}\ngroup g 0 a\nquorum none", "line 2"),
        ("a group that asks for more than it has", f"{a}\ngroup g 2 a\nquorum none", "line 2"),
        ("a group whose number has a leading zero", f"{a}\ngroup g 01 a\nquorum none", "line 2"),
        ("a group that asks for a fraction", f"{a}\ngroup g 1.0 a\nquorum none", "line 2"),
        ("a key of more than 500 characters", f"witness a {Witness('x' * 450, OTHER).vkey}\nquorum none", "line 1"),
        ("a key of 501 characters beyond ASCII", f"witness a {_long_name(447)}\nquorum none", "line 1"),
        *(
            (f"a witness with a key {name}", f"witness a {Witness('a', Key(raw)).vkey}\nquorum none", "line 1")
            for name, raw in WEAK.items()
        ),
        ("a log with a key of small order", f"log {Witness('a', Key(bytes(32)), 1).vkey}\nquorum none", "line 1"),
        ("257 witnesses and groups", f"{a}\n{groups}quorum none", "line 257"),
        ("an unknown kind of line", "Quorum none", "line 1"),
        ("a carriage return", "quorum none\r\n", "line 1"),
        ("a control character in a comment", "# \1\nquorum none", "line 1"),
    ):
        yield Vector(name, packed, (), ("policy", place), policy=text)


def _policy(*lines: str) -> str:
    """Return a policy of the log and of ``lines``, in which witnesses have no keys yet."""
    keys = {"witness a": A, "witness b": B, "witness c": C}
    made = [f"{line} {keys[line].vkey}" if line in keys else line for line in lines]
    return "".join(f"{line}\n" for line in (f"log {LOG_KEY.vkey}", *made))


def _with_notes(*witnesses: Witness, ending: str = "") -> bytes:
    """Return a bundle whose note ``witnesses`` have cosigned, with a further ``ending``."""
    content = finished()
    for number, witness in enumerate(witnesses):
        content["inclusion"]["note"] = witness.cosign(content["inclusion"]["note"], SIGNED_AT // 1000 + number)
    content["inclusion"]["note"] += ending
    return written(signed(content))


def _second_story() -> bytes:
    """Return the bundle of the same match that White has resigned, in a second log of the same operator.

    The witness knows both logs and has cosigned honestly: the text is that of the second log, its signature that of the
    key of the first, under the first one's name.
    """
    content = finished()
    content["events"][5] |= {"actor": "alice", "data": {"seat": 0}}
    content["events"][6] |= {"actor": "alice", "data": {"reason": "resignation", "scores": [0, 1]}}
    content["facts"]["result"]["scores"] = [0, 1]
    inclusion = sealed(linked(content), version=7)["inclusion"]
    text = inclusion["note"].split("\n\n")[0].replace(LOG, "second.example/rookery", 1) + "\n"
    inclusion["note"] = A.cosign(f"{text}\n{LOG_KEY.line(SERVER.sign(text.encode()))}", SIGNED_AT // 1000)
    return written(signed(content))


def _foreign_cosignature() -> str:
    note = sealed(finished(), version=6)["inclusion"]["note"]
    return A.cosign(note, SIGNED_AT // 1000).removeprefix(note)


def _long_name(letters: int) -> str:
    return Witness("\U0001f3f0" * letters, OTHER).vkey


def _capitals(vkey: str) -> str:
    name, key_id, key = vkey.split("+", 2)
    return f"{name}+{key_id.upper()}+{key}"
