"""A page of blocks that is put together from bytes is the message's canonical form."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.encoding import canonical
from contracts.ledger.pages import encode_page
from contracts.proto.ledger_pb2 import BlockPage

BLOCKS = st.lists(
    st.tuples(st.binary(min_size=1, max_size=300), st.lists(st.binary(max_size=200), max_size=4)),
    max_size=4,
)


@given(blocks=BLOCKS, following=st.none() | st.text(min_size=1, max_size=20))
def test_a_page_is_canonical(
    blocks: list[tuple[bytes, list[bytes]]], following: str | None
) -> None:
    page = BlockPage(next_position=following or "")
    for block, receipts in blocks:
        page.blocks.add(block=block, receipts=receipts)
    assert encode_page(blocks, following) == canonical(page)
