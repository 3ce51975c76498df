"""An order book: buyers and sellers of one share meet by price, then by time.

Prices are in heaps, the orders of one price in a queue; a cancelled order is found by its number in a dictionary.
"""

import heapq
import time

import numpy as np

from lancehead import njit


@njit
def best_price(heap, queues, sign):
    """The best price that still has orders; 0 if there is none."""
    while heap:
        price = sign * heap[0]
        if queues[price]:
            return price
        del queues[price]
        heapq.heappop(heap)
    return 0


@njit
def run_market(is_buy, prices, sizes, cancels):
    """Trades as (buyer's order, seller's order, price, size), and the sizes of the orders that are left.

    Order `i` is good for its price or a better one. Before it comes in, order `cancels[i]` is withdrawn if it is still
    open.
    """
    buy_heap, sell_heap, buys, sells, open_sizes, trades = [], [], {}, {}, {}, []
    for i in range(len(prices)):
        open_sizes.pop(cancels[i], 0)
        size = sizes[i]
        while size > 0:
            price = best_price(sell_heap, sells, 1) if is_buy[i] else best_price(buy_heap, buys, -1)
            if price == 0 or (price > prices[i] if is_buy[i] else price < prices[i]):
                break
            queue = sells[price] if is_buy[i] else buys[price]
            other = queue[0]
            traded = min(size, open_sizes.get(other, 0))
            if traded == 0:
                queue.pop(0)
                continue
            trades.append((i, other, price, traded) if is_buy[i] else (other, i, price, traded))
            size -= traded
            open_sizes[other] -= traded
            if open_sizes[other] == 0:
                del open_sizes[other]
                queue.pop(0)
        if size > 0:
            open_sizes[i] = size
            heap, queues, sign = (buy_heap, buys, -1) if is_buy[i] else (sell_heap, sells, 1)
            if prices[i] not in queues:
                queues[prices[i]] = []
                heapq.heappush(heap, sign * prices[i])
            queues[prices[i]].append(i)
    return trades, open_sizes


def orders(n, seed):
    """Random orders around a price that wanders."""
    rng = np.random.default_rng(seed)
    middle = 10_000 + np.cumsum(rng.integers(-1, 2, n))
    prices = middle + rng.integers(-20, 21, n)
    return rng.random(n) < 0.5, prices, rng.integers(1, 100, n), rng.integers(0, n, n)


if __name__ == "__main__":
    market = orders(100_000, 1)
    run_market(*market)
    start = time.perf_counter()
    trades, left = run_market(*market)
    seconds = time.perf_counter() - start
    print(f"{len(trades):,} trades of {sum(size for _, _, _, size in trades):,} shares")
    print("the first:", trades[:3])
    print(f"{len(left):,} orders are open, with {sum(left.values()):,} shares; the last:", list(left.items())[-2:])
    print(f"time: {1e3 * seconds:.1f} ms")
