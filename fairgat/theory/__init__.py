"""Theory: a trained model comes in, the terms and bounds of Theorem 1 and Lemma 1 of each layer go out.

    for terms in theory.measure(method):
        print(terms.layer, terms.delta_out, terms.bound)

Look first at `layers.py`, the terms of one layer from arrays; `network.py` gets the arrays from a network, `runs.py`
the network from the files of a run. docs/theory.md says where the printed statements fail, and proves the corrected
bounds computed here.
"""

from fairgat.theory.layers import LayerTerms, attention_terms, disparity, linear_terms
from fairgat.theory.network import attention_layer, every, measure
