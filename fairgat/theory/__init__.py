"""Theory: a trained model comes in; the account of its gaps and the bounds go out.

    for part in theory.account(method):
        print(part.layer, part.over, part.gap, part.mixing, part.label_selection)
    for terms in theory.measure(method):
        print(terms.layer, terms.delta_out, terms.bound)

The bounds are those of Theorem 1 and Lemma 1. Look first at `account.py` and
`layers.py`, the account and the terms of one layer from arrays; `network.py` gets the
arrays from a network, `runs.py` the network from the files of a run. docs/theory.md
derives the account, says where the printed statements fail, and proves the corrected
bounds computed here.
"""

from fairgat.theory.account import Account
from fairgat.theory.distances import disparity
from fairgat.theory.layers import LayerTerms, attention_terms, linear_terms
from fairgat.theory.network import account, attention_layer, measure, measure_every
