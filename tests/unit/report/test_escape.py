"""Text in each format, as a reader sees it there."""

import pytest

from fairgat.report import escape


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"a_b & 50% $x$ #1 {y}", r"a\_b \& 50\% \$x\$ \#1 \{y\}"),
        (r"\z ~ ^", r"\textbackslash{}z \textasciitilde{} \textasciicircum{}"),
        ("Žižek ± δ\n中", r"\v{Z}i\v{z}ek $\pm$ $\delta$ U+4E2D"),
        ("Straße, Łódź ✓", r"Stra\ss{}e, \L{}\'od\'z $\checkmark$"),
        ("α_χ^max 0.5 of GAT.", r"$\alpha_{\max}^{\chi}$ 0.5 of GAT\@."),
        ('("a b", "c"), d" ["d"]', "(``a b'', ``c''), d'' [``d'']"),
        ("[a] b", "{}[a] b"),
        ("*a", "{}*a"),
        ("a [b]", "a [b]"),
        ("`c` or `a_b: *`, <b>", r"\texttt{c} or \texttt{a\_b: *}, $<$b$>$"),
    ],
)
def test_text_in_latex(text, escaped, caplog):
    assert escape.tex(text) == escaped
    assert not caplog.records


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b *c* ` $5", r"a\|b \*c\* \` \$5"),
        ("x~1/y~2 a_b _e_", r"x\~1/y\~2 a_b \_e\_"),
        ("<i> R&D", "&lt;i> R&amp;D"),
        ("R&D", "R&D"),
        ("`c_` or `a_b: *`, <b>", "`c_` or `a_b: *`, &lt;b>"),
        ("`a|b`", r"<code>a\|b</code>"),
    ],
)
def test_text_in_markdown(text, escaped):
    assert escape.markdown(text) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# a", r"\# a"),
        ("> a", r"\> a"),
        ("- a", r"\- a"),
        ("12. a", r"12\. a"),
        ("---", r"\---"),
        ("===", r"\==="),
        ("#1 a", "#1 a"),
        ("-1.5", "-1.5"),
        ("a - b", "a - b"),
    ],
)
def test_what_would_begin_a_block_of_markdown_is_text(text, escaped):
    assert escape.markdown_line(text) == escaped


def test_text_on_a_page():
    html = escape.html("`c` or `a_b: *`, <b>")
    assert html == "<code>c</code> or <code>a_b: *</code>, &lt;b&gt;"
