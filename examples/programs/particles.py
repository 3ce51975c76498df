"""Particles in a box, as a class with state: jitclass, with a dictionary of the cells in which the particles are."""

import time

import numpy as np

from lancehead import float64, int64, njit
from lancehead.experimental import jitclass


@jitclass([("position", float64[:, :]), ("velocity", float64[:, :]), ("radius", float64), ("hits", int64)])
class Particles:
    """Discs of one size and mass in the unit square; they bounce off the walls and off each other."""

    def __init__(self, position, velocity, radius):
        self.position = position
        self.velocity = velocity
        self.radius = radius
        self.hits = 0

    @property
    def energy(self):
        """The kinetic energy, which does not change."""
        return 0.5 * (self.velocity * self.velocity).sum()

    def cells(self):
        """The numbers of the particles in each cell of a grid whose cells are as wide as a particle."""
        width = 2 * self.radius
        found = {}
        for i in range(len(self.position)):
            cell = int(self.position[i, 0] / width), int(self.position[i, 1] / width)
            found.setdefault(cell, []).append(i)
        return found

    def collide(self, i, j):
        """Exchanges the velocities of two particles along the line between them, if they touch and come closer."""
        dx = self.position[i, 0] - self.position[j, 0]
        dy = self.position[i, 1] - self.position[j, 1]
        distance = dx * dx + dy * dy
        if distance > 4 * self.radius * self.radius or distance == 0.0:
            return
        closing = (self.velocity[i, 0] - self.velocity[j, 0]) * dx + (self.velocity[i, 1] - self.velocity[j, 1]) * dy
        if closing < 0.0:
            self.velocity[i, 0] -= closing / distance * dx
            self.velocity[i, 1] -= closing / distance * dy
            self.velocity[j, 0] += closing / distance * dx
            self.velocity[j, 1] += closing / distance * dy
            self.hits += 1

    def step(self, dt):
        """Moves all particles, then lets those collide that are in one cell or in neighbouring ones."""
        for i in range(len(self.position)):
            for axis in range(2):
                self.position[i, axis] += dt * self.velocity[i, axis]
                if not self.radius <= self.position[i, axis] <= 1.0 - self.radius:
                    inside = min(max(self.position[i, axis], self.radius), 1.0 - self.radius)
                    self.velocity[i, axis] = abs(self.velocity[i, axis]) * (1 if inside == self.radius else -1)
                    self.position[i, axis] = inside
        cells = self.cells()
        for (x, y), here in cells.items():
            for neighbour in ((x, y), (x + 1, y), (x - 1, y + 1), (x, y + 1), (x + 1, y + 1)):
                for i in here:
                    for j in cells.get(neighbour, here[:0]):
                        if neighbour != (x, y) or i < j:
                            self.collide(i, j)


@njit
def run(particles, steps, dt):
    """Several steps."""
    for _ in range(steps):
        particles.step(dt)


def box(n, seed):
    """Particles at random places, with random velocities."""
    rng = np.random.default_rng(seed)
    return Particles(rng.uniform(0.01, 0.99, (n, 2)), rng.normal(0.0, 0.1, (n, 2)), 0.002)


if __name__ == "__main__":
    run(box(10, 0), 1, 0.01)
    particles = box(2_000, 1)
    before = particles.energy
    start = time.perf_counter()
    run(particles, 100, 0.01)
    seconds = time.perf_counter() - start
    print(f"{particles.hits:,} collisions; energy before {before:.6f}, after {particles.energy:.6f}")
    print("the first particle is at", particles.position[0].round(6).tolist())
    print(f"time: {1e3 * seconds:.1f} ms")
