"""Customers of a bank, simulated by events: a heap of dataclasses that are ordered by time."""

import dataclasses
import heapq
import time

import numpy as np

from lancehead import njit

ARRIVAL, SERVICE_ENDS = 0, 1


@dataclasses.dataclass(order=True)
class Event:
    """Something that happens to a customer; of two events at one time the one that was planned first comes first."""

    time: float
    number: int
    kind: int
    customer: int


@dataclasses.dataclass
class Statistics:
    """Facts of a whole day."""

    served: int = 0
    gave_up: int = 0
    waited: float = 0.0
    longest_queue: int = 0


@njit
def simulate(arrivals, services, patience, clerks):
    """One day of customers who arrive at given times and need given times; who waits too long, goes."""
    events, queue, day = [], [], Statistics()
    planned = 0
    for customer in range(len(arrivals)):
        heapq.heappush(events, Event(arrivals[customer], planned, ARRIVAL, customer))
        planned += 1
    free = clerks
    while events:
        event = heapq.heappop(events)
        if event.kind == ARRIVAL:
            queue.append(event.customer)
            day.longest_queue = max(day.longest_queue, len(queue))
        else:
            day.served += 1
            free += 1
        while free > 0 and queue:
            customer = queue.pop(0)
            waited = event.time - arrivals[customer]
            if waited > patience[customer]:
                day.gave_up += 1
                continue
            day.waited += waited
            free -= 1
            heapq.heappush(events, Event(event.time + services[customer], planned, SERVICE_ENDS, customer))
            planned += 1
    return day


def customers(n, seed):
    """Times of arrival, of service, and how long each would wait, in minutes."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.exponential(1.0, n)), rng.gamma(2.0, 1.5, n), rng.uniform(5.0, 30.0, n)


if __name__ == "__main__":
    arrivals, services, patience = customers(20_000, 4)
    simulate(arrivals, services, patience, 3)
    start = time.perf_counter()
    days = [simulate(arrivals, services, patience, clerks) for clerks in (2, 3, 4)]
    seconds = time.perf_counter() - start
    for clerks, day in zip((2, 3, 4), days):
        mean = day.waited / day.served
        print(f"{clerks} clerks: {day.served:,} served after {mean:.2f} minutes, {day.gave_up:,} gave up,", end=" ")
        print(f"at most {day.longest_queue} in the queue")
    print("the last day:", days[-1])
    print(f"time: {1e3 * seconds:.1f} ms")
