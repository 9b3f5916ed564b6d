"""What the layers take for features and edges, and what they refuse."""

import copy

import pytest
import torch
import torch_geometric.utils
from graphs import features, random_graph

from fairgat.nn import CSRGraph, FairGATConv, GATConv, graphs
from fairgat.nn import linear as products

N = 30


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return FairGATConv(5, 8).eval()


def transposed_in_memory(array):
    return array.t().contiguous().t()


@pytest.mark.parametrize(
    "change",
    [
        lambda edges: edges[:, torch.randperm(edges.size(1))],
        lambda edges: edges.int(),
        lambda edges: edges.to(torch.uint8),
        transposed_in_memory,
    ],
    ids=["order", "int32", "uint8", "layout"],
)
def test_order_type_and_layout_of_edges_do_not_matter(
    layer, change, edge_index, sensitive
):
    expected = layer(features(), edge_index, sensitive)
    found = layer(features(), change(edge_index), sensitive)
    torch.testing.assert_close(found, expected)


def test_the_layout_of_features_does_not_matter(layer, edge_index, sensitive):
    strided = transposed_in_memory(features().detach())
    assert not strided.is_contiguous()
    expected = layer(features(), edge_index, sensitive)
    torch.testing.assert_close(layer(strided, edge_index, sensitive), expected)


def test_a_layer_of_doubles_gives_the_same(layer, edge_index, sensitive):
    expected = layer(features(), edge_index, sensitive)
    double = copy.deepcopy(layer).double()
    found = double(features().double(), edge_index, sensitive)
    torch.testing.assert_close(found.float(), expected)


def test_a_sparse_matrix_has_a_row_for_each_target(edge_index):
    layer, once = GATConv(5, 8), edge_index.unique(dim=1)
    by_target = torch_geometric.utils.to_torch_csc_tensor(once, size=(N, N)).t()

    expected = layer(features(), once, size=(N, N))
    torch.testing.assert_close(layer(features(), by_target), expected)
    coo = by_target.to_sparse_coo()
    torch.testing.assert_close(layer(features(), coo), expected)


NO_EDGES = torch.zeros(2, 0, dtype=torch.long)
WIDTHS = pytest.mark.parametrize(
    "width", [8, 3], ids=["aggregate-first", "transform-first"]
)


def test_without_edges_a_layer_is_linear():
    layer, x = GATConv(5, 8), features()
    expected = x @ layer.lin.weight.t() + layer.bias
    torch.testing.assert_close(layer(x, NO_EDGES), expected)


def test_without_edges_and_self_loops_a_layer_is_its_bias():
    lonely = GATConv(5, 8, add_self_loops=False)
    expected = lonely.bias.expand(N, -1)
    torch.testing.assert_close(lonely(features(), NO_EDGES), expected)


def test_without_edges_there_may_be_features_of_edges():
    out = GATConv(5, 8, edge_dim=2)(features(), NO_EDGES, torch.zeros(0, 2))
    assert out.shape == (N, 8)


@WIDTHS
def test_a_graph_may_have_no_nodes(width):
    nobody, no_groups = torch.zeros(0, 5), torch.zeros(0, dtype=torch.long)
    assert GATConv(5, width)(nobody, NO_EDGES).shape == (0, width)
    assert FairGATConv(5, width)(nobody, NO_EDGES, no_groups).shape == (0, width)


def test_the_csr_is_kept_until_a_tensor_changes(
    monkeypatch, layer, edge_index, sensitive
):
    built = []
    original = CSRGraph.from_edge_index.__func__

    def counted(cls, *arguments):
        built.append(1)
        return original(cls, *arguments)

    monkeypatch.setattr(CSRGraph, "from_edge_index", classmethod(counted))
    for _ in range(3):
        layer(features(), edge_index, sensitive)
    assert len(built) == 1

    layer(features(), edge_index, sensitive.clone())
    assert len(built) == 2

    edge_index[:, 0] = torch.tensor([3, 4])
    layer(features(), edge_index, sensitive)
    assert len(built) == 3


# ------------------------------------------------------------------------- CSR graphs


def test_a_csr_graph_gives_what_its_edges_give(layer, edge_index, sensitive):
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    expected = layer(features(), edge_index, sensitive)
    torch.testing.assert_close(layer(features(), graph), expected)


def test_a_csr_graph_without_groups_is_for_layers_without_step_1(edge_index):
    graph = CSRGraph.from_edge_index(edge_index, N)
    plain = FairGATConv(5, 8, alpha_chi=None)
    expected = plain(features(), edge_index)
    torch.testing.assert_close(plain(features(), graph), expected)


def test_a_fair_layer_needs_a_csr_graph_with_groups(layer, edge_index):
    graph = CSRGraph.from_edge_index(edge_index, N)
    how = r"from_edge_index\(edge_index, 30, sensitive, "
    with pytest.raises(ValueError, match=rf"needs a CSRGraph made by {how}"):
        layer(features(), graph)


def test_groups_are_given_once(layer, edge_index, sensitive):
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    with pytest.raises(ValueError, match="or a CSRGraph"):
        layer(features(), graph, 1 - sensitive)


PLAIN = pytest.mark.parametrize(
    "plain",
    [GATConv(5, 8), FairGATConv(5, 8, alpha_chi=None)],
    ids=["GATConv", "FairGATConv"],
)


@PLAIN
def test_a_plain_layer_refuses_a_csr_graph_with_groups(plain, edge_index, sensitive):
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive)
    how = r"from_edge_index\(edge_index, 30, sensitive, "
    with pytest.raises(ValueError, match=rf"got one by {how}"):
        plain(features(), graph)


@PLAIN
def test_a_csr_graph_of_other_nodes_is_refused(plain, edge_index):
    graph = CSRGraph.from_edge_index(edge_index, N)
    how = r"needs a CSRGraph made by from_edge_index\(edge_index, 29, "
    with pytest.raises(ValueError, match=how):
        plain(features()[1:], graph)


@PLAIN
@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (torch.ones(3, dtype=torch.bool), "one for each edge"),
        (torch.ones(N + 128, dtype=torch.long), "keep must be bool"),
        ([True] * (N + 128), "keep must be bool .* got list"),
    ],
)
def test_what_is_kept_is_said_for_each_edge(plain, keep, message, edge_index):
    graph = CSRGraph.from_edge_index(edge_index, N)
    with pytest.raises(ValueError, match=message):
        plain(features(), graph, keep=keep)


@pytest.mark.parametrize("self_loops", [True, False])
def test_edges_that_were_returned_may_be_written_to(self_loops, edge_index):
    layer, before = GATConv(5, 8, add_self_loops=self_loops), edge_index.clone()

    _, (returned, _) = layer(features(), edge_index, return_attention_weights=True)
    returned += 1
    _, (again, _) = layer(features(), edge_index, return_attention_weights=True)

    assert torch.equal(edge_index, before)
    assert torch.equal(again, returned - 1)


@pytest.mark.parametrize("self_loops", [True, False])
def test_a_csr_graph_does_not_change_with_the_edges_it_was_made_of(
    self_loops, edge_index
):
    graph = CSRGraph.from_edge_index(edge_index, N, add_self_loops=self_loops)
    before = graph.edge_index.clone()
    edge_index += 1
    assert torch.equal(graph.edge_index, before)


# ---------------------------------------------------------------- what does not fit


def gat(x=None, edge_index=None, edge_attr=None, channels=5, **options):
    """Call a layer on the small graph, but for what is given."""
    x = features() if x is None else x
    edge_index = random_graph()[0] if edge_index is None else edge_index
    return GATConv(channels, 2, **options)(x, edge_index, edge_attr)


def with_changed(**changes):
    """Call a layer whose attributes were changed after it was made."""
    layer = FairGATConv(5, 2)
    vars(layer).update(changes)
    return layer(features(), *random_graph())


def with_third(argument):
    """Give something where groups are expected."""
    layer = FairGATConv(5, 2, alpha_chi=None)
    return layer(features(), random_graph()[0], argument)


def csr_of(edge_index):
    return CSRGraph.from_edge_index(edge_index, N)


# As many as there are, but in another order: 1 -> 0 stands where a self-loop is.
LOOPED = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 1]])
MATRIX = torch.eye(N).to_sparse()
REFUSED = {
    "bipartite": (lambda: GATConv((3, 4), 2), "bipartite"),
    "two sets of nodes": (
        lambda: gat((features(), features())),
        r"\(N, 5\), got tuple",
    ),
    "more targets than sources": (
        lambda: GATConv(5, 2)(features(), random_graph()[0], size=(N, N + 1)),
        "bipartite",
    ),
    "lazy": (lambda: GATConv(-1, 2), "lazy"),
    "lazy features of edges": (
        lambda: GATConv(3, 2, edge_dim=-1),
        "edge_dim must be None or a number",
    ),
    "no heads": (lambda: GATConv(3, 2, heads=0), "positive"),
    "a fill that is none": (
        lambda: GATConv(3, 2, edge_dim=4, fill_value="median"),
        "mean, add, sum, min, max, mul",
    ),
    "no fill": (lambda: GATConv(3, 2, fill_value=None), "a number, a tensor"),
    "a fill of another width": (
        lambda: GATConv(3, 2, edge_dim=4, fill_value=torch.ones(3)),
        r"a tensor \(4,\)",
    ),
    "a share above 1": (lambda: FairGATConv(3, 2, alpha_chi=1.5), r"\[0, 1\]"),
    "a share as a tensor": (
        lambda: FairGATConv(3, 2, alpha_chi=torch.tensor(0.5)),
        "alpha_chi must be a share",
    ),
    "a share that is true": (
        lambda: FairGATConv(3, 2, alpha_chi=True),
        "alpha_chi must be a share",
    ),
    "a share that rose": (
        lambda: with_changed(alpha_chi=5.0),
        "alpha_chi must be a share",
    ),
    "an eta that fell": (lambda: with_changed(eta=-1.0), "eta must be positive"),
    "eta 0": (lambda: FairGATConv(3, 2, eta=0), "positive"),
    "eta as text": (
        lambda: FairGATConv(3, 2, eta="1"),
        "eta must be positive and finite, got '1'",
    ),
    "eta NaN": (lambda: FairGATConv(3, 2, eta=float("nan")), "finite"),
    "no groups": (
        lambda: FairGATConv(5, 2)(features(), random_graph()[0]),
        "sensitive",
    ),
    "floats as groups": (
        lambda: with_third(torch.ones(9)),
        "features of edges are `edge_attr`",
    ),
    "a group for all nodes": (lambda: with_third(1), r"shape \(30,\), got \(\)"),
    "a matrix as groups": (
        lambda: with_third(torch.ones(N, 3)),
        "features of edges are `edge_attr`",
    ),
    "a number as groups": (
        lambda: with_third(torch.tensor(1)),
        "features of edges are `edge_attr`",
    ),
    "groups before the number of nodes": (
        lambda: CSRGraph.from_edge_index(*random_graph(), N),
        "`sensitive` comes third",
    ),
    "no number of nodes": (
        lambda: CSRGraph.from_edge_index(random_graph()[0], None),
        "num_nodes must be a whole number, got None",
    ),
    "a fraction of nodes": (
        lambda: CSRGraph.from_edge_index(random_graph()[0], 30.5),
        "num_nodes must be a whole number, got 30.5",
    ),
    "less than no nodes": (
        lambda: CSRGraph.from_edge_index(NO_EDGES, -1),
        "num_nodes must be a whole number, got -1",
    ),
    "a CSR graph with self-loops": (
        lambda: gat(edge_index=csr_of(random_graph()[0]), add_self_loops=False),
        "needs .*add_self_loops=False.* got .*add_self_loops=True",
    ),
    "an array of other edges": (
        lambda: csr_of(random_graph()[0]).reorder_edges(torch.ones(9)),
        "self-loops included",
    ),
    "an array of edges with self-loops": (
        lambda: CSRGraph.from_edge_index(LOOPED, 2).reorder_edges(torch.ones(4)),
        "given with self-loops",
    ),
    "blocks": (
        lambda: gat(edge_index=torch.eye(N).to_sparse_bsr((1, 1))),
        "COO, CSR or CSC",
    ),
    "no features of edges": (lambda: gat(edge_dim=3), "made with edge_dim=3"),
    "features of edges that are not used": (
        lambda: gat(edge_attr=torch.zeros(128, 3)),
        "made with edge_dim=None",
    ),
    "features of a few edges": (
        lambda: gat(edge_attr=torch.zeros(4, 3), edge_dim=3),
        "one row for each edge",
    ),
    "features of edges in a list": (
        lambda: gat(edge_attr=[1.0] * 128, edge_dim=1),
        "edge_attr must be a dense tensor, got list",
    ),
    "sparse features of edges": (
        lambda: gat(edge_attr=torch.ones(128, 3).to_sparse(), edge_dim=3),
        "edge_attr must be a dense tensor, got torch.sparse_coo",
    ),
    "features of edges in a vector": (
        lambda: gat(edge_attr=torch.zeros(128), edge_dim=3),
        "one row for each edge",
    ),
    "features of a matrix's edges": (
        lambda: gat(edge_index=MATRIX, edge_attr=torch.ones(N), edge_dim=1),
        "no order",
    ),
    "features of the edges of a matrix's graph": (
        lambda: gat(edge_index=csr_of(MATRIX), edge_attr=torch.ones(N), edge_dim=1),
        "no order",
    ),
    "another width": (lambda: gat(channels=4), r"\(N, 4\)"),
    "sparse features": (
        lambda: gat(torch.eye(6).to_sparse(), channels=6),
        "sparse",
    ),
    "doubles": (lambda: gat(features().double()), "x is torch.float64 and the layer"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ----------------------------------------------------------- what is kept between calls


def trained(layer, *given):
    """The output of a call, and the gradients of the parameters."""
    layer.zero_grad()
    out = layer(*given)
    out.square().sum().backward()
    return [out, *(each.grad.clone() for each in layer.parameters())]


def test_bags_of_words_are_read_by_their_non_zeros(edge_index, sensitive):
    """They give what dense features give, and what is kept follows writes to them."""
    torch.manual_seed(0)
    x = features(60).detach() * (torch.rand(N, 60) < 0.1)
    x[7] = 0
    layer = FairGATConv(60, 16)

    for _ in range(2):
        as_bags = trained(layer, x, edge_index, sensitive)
        as_dense = trained(layer, x.clone().requires_grad_(), edge_index, sensitive)
        torch.testing.assert_close(as_bags, as_dense, rtol=1e-4, atol=1e-5)
        assert x in products._bags
        x[3] = 2.0


def test_features_that_are_mostly_not_zero_are_no_bags():
    assert products._nonzeros(torch.ones(N, 60)) is None


def test_memory_stays_level_where_groups_change(layer, edge_index, sensitive):
    """In place, as new tensors, or in turns."""
    several = [sensitive.roll(k) for k in range(20)]
    for k in range(50):
        sensitive[k % N] = k % 2
        for groups in (sensitive, sensitive.clone(), several[k % 20]):
            graph = CSRGraph.from_edge_index(edge_index, N, groups)
            expected = layer(features(), graph)
            torch.testing.assert_close(layer(features(), edge_index, groups), expected)

    _, kinds = graphs._graphs[edge_index]
    assert sum(map(len, kinds.values())) <= graphs.MOST_CACHED


def test_features_that_are_replaced_are_read_anew(layer, edge_index, sensitive):
    """`module.double()` replaces a frozen parameter's; PyTorch counts no write."""
    layer.x = torch.nn.Parameter(features().detach(), requires_grad=False)
    layer(layer.x, edge_index, sensitive)

    layer.double()

    expected = layer(layer.x.clone(), edge_index, sensitive)
    torch.testing.assert_close(layer(layer.x, edge_index, sensitive), expected)


def test_edges_that_are_replaced_are_read_anew(layer, edge_index, sensitive):
    layer(features(), edge_index, sensitive)

    edge_index.data = edge_index.flip(0).contiguous()

    expected = layer(features(), edge_index.clone(), sensitive)
    torch.testing.assert_close(layer(features(), edge_index, sensitive), expected)
