"""Two small tables of one's own, with cells and columns changed."""

NODES = (
    "person,age,job,paid,sex\n"
    "a,20,x,1,f\nb,30,y,0,m\nc,40,y,1,f\nd,50,z,0,m\ne,25,x,0,f\nf,35,x,1,m\n"
)
EDGES = "from,to\na,b\nb,c\nc,d\nd,e\ne,f\n"
OPTIONS = {"id": "person", "label": "paid", "sensitive": "sex", "categories": "job"}


def with_column(name, values, text=NODES):
    """The table with these values in a column, which is new or not."""
    header, *rows = [line.split(",") for line in text.splitlines()]
    if name not in header:
        header.append(name)
        rows = [[*row, ""] for row in rows]
    for row, value in zip(rows, values, strict=True):
        row[header.index(name)] = value
    return as_csv([header, *rows])


def with_cell(row, column, value, text=NODES):
    """The table with another cell; rows are counted from 1."""
    lines = [line.split(",") for line in text.splitlines()]
    lines[row][lines[0].index(column)] = value
    return as_csv(lines)


def as_csv(lines):
    return "\n".join(map(",".join, lines)) + "\n"


def features_by_name(graph):
    """The columns of the features."""
    names = graph.facts["feature_names"]
    return dict(zip(names, graph.features.T.tolist(), strict=True))
