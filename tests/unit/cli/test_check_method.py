"""`fairgat check-method`: what it prints; test_check_method.py of training checks."""

import pytest

from fairgat.cli import main as cli


@pytest.fixture
def check(monkeypatch):
    """Run the command on checks that found this."""

    def run(*found):
        monkeypatch.setattr("fairgat.cli.check_method.check", lambda *given: found)
        return cli.main(["check-method", "mine.py"])

    return run


def test_a_method_that_passes_has_the_status_0(check, capsys):
    status = check(("shapes", ""), ("gradients", ""))

    assert status == 0
    assert capsys.readouterr().out == "right  shapes\nright  gradients\n"


def test_a_setting_is_given_once(refused):
    said = refused("check-method", "gat", "--set", "rate=1", "--set", "rate=2")
    assert "--set rate is given twice" in said


def test_the_status_is_1_however_many_checks_fail(check, capsys):
    status = check(("shapes", "(3,)"), ("gradients", "none"), ("seed", ""))

    assert status == 1
    assert capsys.readouterr().out.splitlines() == [
        "wrong  shapes:",
        "       (3,)",
        "wrong  gradients:",
        "       none",
        "right  seed",
    ]
