"""Two installations that witness each other: what is cosigned, and how a rolled back log is found out."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.cli.witness_server import serve_witness
from events.matches.readmodels.summary import DAY_MS
from events.proof.bundle import make_bundle, read_bundle
from events.proof.checkpoint_log import CheckpointLog, RolledBackError
from events.proof.checkpoints import Checkpoint, Consistency
from events.proof.guard import CheckpointGuard
from events.proof.log_audit import audit_log
from events.proof.notes import NoteKey, parse_note
from events.proof.policies import Policy, parse_policy
from events.proof.receipts import Comparison, compare, make_receipt
from events.proof.signed_checkpoints import ContradictedError, accept_contradictions_of, sign_checkpoint_of
from events.proof.transparency.cosigning import Cosigning
from events.proof.tree_heads import note_key, parse_tree_head
from events.proof.verification import Step, verify
from events.proof.witness import Witness, WitnessState
from events.runtime.egress import Egress
from events.runtime.keys import ProofKeys
from events.runtime.wall_clock import rfc3339
from tests.support.dumps import copied, write_copy
from tests.support.matches import T0
from tests.support.receivers import LOOPBACK
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation

OTHER_DATABASE = 6


class Club:
    """An installation, and the witness that its operator runs for the log of another one."""

    def __init__(self, url: str, directory: Path, name: str) -> None:
        self.shop = SteppedInstallation(url)
        self.directory, self.name = directory, name
        self.parts, self.log = self.shop.parts, self.shop.checkpoints
        self.cosigning = Cosigning(self.parts.witnesses, self.log, Egress(LOOPBACK))
        self.state = WitnessState(directory / "witness")
        self.witness_key = self.state.key(f"{name}.example/witness")

    @property
    def log_key(self) -> NoteKey:
        return note_key(self.log.origin(), self.parts.keys.signing().public.raw)

    def sign(self, day: int) -> Checkpoint:
        self.shop.now = T0 + day * DAY_MS
        return sign_checkpoint_of(self.log, self.parts.incidents, self.shop.now, self.cosigning)

    def is_cosigned_by(self, other: "Club") -> bool:
        note = parse_note(self.log.note())
        return any(signature.is_of(other.witness_key.public) for signature in note.signatures)

    def bundle(self, match: str) -> bytes:
        events = self.shop.store.read(match)
        return make_bundle(match, events, self.parts.keys.signing(), self.shop.now, self.log.inclusion(match))


@contextmanager
def serving(witness: Witness) -> Iterator[str]:
    """Run a witness as ``rookery witness serve`` does; give its URL."""
    server = serve_witness(witness, "127.0.0.1", 0, None)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.trigger.pull_trigger(server.close)
        server.task_dispatcher.shutdown()


@pytest.fixture
def clubs(server: RealServer, tmp_path: Path) -> Iterator[tuple[Club, Club]]:
    anna = Club(server.url, tmp_path / "anna", "anna")
    boris = Club(server.url.removesuffix("/0") + f"/{OTHER_DATABASE}", tmp_path / "boris", "boris")
    with ExitStack() as running:
        for club, other in ((anna, boris), (boris, anna)):
            witness = Witness(club.witness_key, [other.log_key], club.state, lambda: T0 // 1000)
            other.parts.witnesses.add(running.enter_context(serving(witness)), club.witness_key.public.vkey)
        yield anna, boris
    boris.shop.client.flushdb()


def policy_of(club: Club, witness: Club) -> Policy:
    lines = f"log {club.log_key.vkey}\nwitness w {witness.witness_key.public.vkey}\nquorum w\n"
    return parse_policy(lines.encode())


def cosigned(bundle: bytes, policy: Policy) -> Step:
    (step,) = (step for step in verify(bundle, policy=policy) if step.name == "cosigned")
    return step


def test_two_installations_cosign_each_other_and_bundles_prove_it(clubs: tuple[Club, Club]) -> None:
    for club, other in (clubs, clubs[::-1]):
        match = club.shop.start("alice", "bob")
        for day in (0, 1):
            club.shop.start("alice", "bob")
            checkpoint = club.sign(day)
            assert club.is_cosigned_by(other)
        assert other.state.cosigned()[club.log.origin()].size == checkpoint.size
        step = cosigned(club.bundle(match), policy_of(club, other))
        assert step.proved
        assert "cosigned by w at " in step.finding
        assert not cosigned(club.bundle(match), policy_of(club, club)).proved


def test_a_restored_installation_is_found_out_by_guard_witness_and_receipt(clubs: tuple[Club, Club]) -> None:
    club, other = clubs
    guard = CheckpointGuard(str(club.directory / "guard"))
    guarded = CheckpointLog(club.shop.store, club.shop.keyring, guard)
    club.shop.start("alice", "bob", match="first")
    sign_checkpoint_of(guarded, club.parts.incidents, T0, club.cosigning)
    backup = copied(club.shop.client)
    club.shop.now = T0 + DAY_MS
    lost = club.shop.start("alice", "bob", match="lost")
    club.shop.play(lost, 3)
    installation, key = club.shop.store.installation().id, club.parts.keys.signing()
    receipt = make_receipt(lost, club.shop.store.heads([lost])[0], installation, key, club.shop.now)
    latest = sign_checkpoint_of(guarded, club.parts.incidents, club.shop.now, club.cosigning)
    assert club.is_cosigned_by(other)

    club.shop.client.flushdb()
    write_copy(club.shop.client, backup)
    # Its own guard refuses.
    with pytest.raises(RolledBackError):
        sign_checkpoint_of(guarded, club.parts.incidents, T0 + 2 * DAY_MS)
    # With the guard lost too, the witness is asked before anything is signed.
    before = club.log.note()
    with pytest.raises(ContradictedError, match=rf"boris\.example/witness has cosigned a tree of {latest.size} leaves"):
        club.sign(2)
    assert club.log.note() == before
    assert any(incident.id.startswith("contradiction-") for incident in club.parts.incidents.all())
    # Signed all the same, with another story about the match that was lost: no cosignature.
    club.shop.start("alice", "bob", match=lost)
    club.shop.play(lost, 3, seed=2)
    for number in range(4):
        club.shop.start("alice", "bob", match=f"later{number}")
    sign_checkpoint_of(club.log, club.parts.incidents, T0 + 3 * DAY_MS)
    club.cosigning.ask_waiting(T0 + 3 * DAY_MS)
    [standing] = club.parts.witnesses.all()
    assert (standing.contradicts, standing.contradicted) == (True, latest.size)
    assert "does not extend" in standing.trouble
    assert not club.is_cosigned_by(other)
    assert not cosigned(club.bundle(lost), policy_of(club, other)).proved
    # The witness has kept what was signed: with what it has cosigned it proves the fork.
    [kept] = (other.directory / "witness" / "contradictions").iterdir()
    assert parse_tree_head(parse_note(club.log.note()).text).text in kept.read_text()
    # And a player who holds a receipt proves it alone.
    assert compare(receipt, read_bundle(club.bundle(lost))) == Comparison.CONTRADICTED


def test_an_operator_accepts_what_a_witness_contradicts_for_everyone_to_see(clubs: tuple[Club, Club]) -> None:
    club, _ = clubs
    club.shop.start("alice", "bob")
    club.sign(0)
    backup = copied(club.shop.client)
    club.shop.start("alice", "bob")
    club.sign(1)
    club.shop.client.flushdb()
    write_copy(club.shop.client, backup)
    with pytest.raises(ContradictedError):
        club.sign(2)
    for _ in range(2):
        accept_contradictions_of(
            club.parts.witnesses, club.parts.administration, club.parts.incidents, club.shop.now, "operator"
        )
    [act] = [act for act in club.parts.administration.acts() if act.act == "rollback-accepted"]
    assert act.facts["witness"] == "boris.example/witness"
    assert club.sign(2).size > 0


class LateReader:
    """The log to a process that has read its note just before another one has signed the next."""

    def __init__(self, log: CheckpointLog, note: str) -> None:
        self._log, self._before = log, [note]

    def note(self) -> str | None:
        return self._before.pop() if self._before else self._log.note()

    def replace_note(self, present: str, changed: str) -> bool:
        return self._log.replace_note(present, changed)

    def consistency(self, first: int, second: int) -> Consistency:
        return self._log.consistency(first, second)


def test_a_process_that_asks_while_another_signs_finds_no_contradiction(clubs: tuple[Club, Club]) -> None:
    club, other = clubs
    club.shop.start("alice", "bob")
    club.sign(0)
    before = club.log.note()
    assert before is not None
    club.shop.start("alice", "bob")
    club.sign(1)
    late = Cosigning(club.parts.witnesses, LateReader(club.log, before), Egress(LOOPBACK))
    assert late.confirm(club.shop.now) == []
    [standing] = club.parts.witnesses.all()
    assert standing.trouble == "a later checkpoint was signed while it was asked"
    club.sign(2)
    assert club.is_cosigned_by(other)


def test_a_note_that_is_damaged_is_found_and_signed_again(clubs: tuple[Club, Club]) -> None:
    club, other = clubs
    match = club.shop.start("alice", "bob")
    club.sign(0)
    club.shop.client.set(ProofKeys(PREFIX).note, "damaged")
    [finding] = audit_log(club.shop.store, club.log, club.shop.keyring).findings
    assert finding.place == "the note of the last tree"
    assert club.log.note() is None
    assert read_bundle(club.bundle(match)).inclusion.note is None
    club.sign(1)
    assert club.is_cosigned_by(other)
    assert audit_log(club.shop.store, club.log, club.shop.keyring).findings == []


def test_a_witness_that_is_away_delays_nothing_and_is_asked_again(clubs: tuple[Club, Club]) -> None:
    club, other = clubs
    [witness] = club.parts.witnesses.all()
    club.parts.witnesses.remove(witness.key.name)
    club.parts.witnesses.add("http://127.0.0.1:1", witness.vkey)
    club.shop.start("alice", "bob")
    club.sign(0)
    [failing] = club.parts.witnesses.all()
    assert (failing.failures, failing.cosigned_at) == (1, None)
    assert "No connection was made" in failing.trouble
    figures = {each.name: each.values for each in club.parts.figures.read()}
    assert list(figures["rookery_witness_failures"].values()) == [1.0]
    ask = club.shop.checkpoint_reminders().request_cosignatures
    club.shop.now = failing.due - 1
    assert not ask()
    club.shop.now = failing.due
    assert ask()
    assert not ask()
    club.parts.witnesses.remove(witness.key.name)
    club.parts.witnesses.add(witness.url, witness.vkey)
    # What a request to the former address has come to is not noted any more.
    club.parts.witnesses.record(failing)
    [again] = club.parts.witnesses.all()
    assert (again.url, again.failures) == (witness.url, 0)
    club.parts.witnesses.record(failing._replace(url=witness.url))
    assert club.cosigning.ask_waiting(club.shop.now) == 1
    assert club.is_cosigned_by(other)
    club.shop.now += 60_000
    assert not ask()
    assert club.shop.tasks.cosignatures == 1


def run(club: Club, *arguments: str) -> Result:
    environment = {
        "REDIS_URL": club.shop.settings.redis_url,
        "ROOKERY_PREFIX": PREFIX,
        "ROOKERY_EGRESS_ALLOWED": ",".join(LOOPBACK),
    }
    return CliRunner().invoke(main, ["witness", *arguments], env=environment)


def test_operators_add_list_and_remove_witnesses(clubs: tuple[Club, Club]) -> None:
    club, other = clubs
    name, vkey = other.witness_key.public.name, other.witness_key.public.vkey
    assert run(club, "show-key").stdout == f"{club.log_key.vkey}\n"
    club.shop.start("alice", "bob")
    size = club.sign(0).size
    assert f"{name}  http://127.0.0.1:" in (listed := run(club, "list").stdout)
    assert f"has cosigned {size} leaves at {rfc3339(T0)}" in listed
    assert f"there is a witness {name} already" in run(club, "add", "https://w.example", vkey).output
    assert run(club, "remove", name).exit_code == 0
    assert "There are no witnesses" in run(club, "list").stdout
    assert run(club, "remove", name).exit_code == 1
    for url, key, words in (
        ("https://w.example", club.log_key.vkey, "that of a log"),
        ("https://w.example", "key", "is no verifier key"),
        ("ftp://w.example", vkey, "must begin with https://"),
        ("http://10.0.0.1", vkey, "only public addresses are called"),
    ):
        added = run(club, "add", url, key)
        assert (added.exit_code, words in added.output) == (1, True), added.output
    assert run(club, "add", "http://127.0.0.1:8030/", vkey).exit_code == 0
