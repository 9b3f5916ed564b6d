"""The terms and bounds of Theorem 1 and Lemma 1, evaluated on a trained model.

    for terms in theory.measure(method):
        print(terms.layer, terms.delta_out, terms.bound)

`docs/theory.md` says where the printed statements fail, and proves the corrected bounds computed here.
"""

from fairgat.theory.bounds import Bound, lemma, theorem
from fairgat.theory.layers import LayerTerms, NotCovered, attention_terms, disparity, linear_terms
from fairgat.theory.network import attention_layer, every, measure

__all__ = [
    "Bound",
    "LayerTerms",
    "NotCovered",
    "attention_layer",
    "attention_terms",
    "disparity",
    "every",
    "lemma",
    "linear_terms",
    "measure",
    "theorem",
]
