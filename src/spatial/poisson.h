// Pressure on a sparse grid: solves A p = b for the cells of a TileView, where
//
//     (A p)_c = (sum of the coefficients of its six faces + anchor_c) p_c
//               - sum over the faces of coefficient x p_neighbour
//
// which is symmetric and positive (semi-)definite; bodies that the pressure pushes may add J^T K J
// (PoissonBodies). All numbers may be in any unit, as long as coefficient x p and b agree.
//
// Conjugate gradients, preconditioned by one symmetric V-cycle of multigrid: the number of
// iterations does not grow with the grid. The levels: cells of a tile are merged 2^3 to one, to
// edges of 4 and 2 cells and to one; the tiles are then the cells of a coarser sparse grid, and so
// on until a few hundred cells are left. Faces between merged cells take half the sum of the fine
// faces, for twice the distance; corrections are interpolated trilinearly, residuals restricted by
// the transpose of that. Smoothing is by two Jacobi steps, whose weights are those of a Chebyshev
// polynomial.
//
// Regions without an anchor (a closed tank) know p only up to a constant, and have no p at all if
// what flows in does not flow out. So the mean of b over each such region is taken off first; the
// correction to the guess has a mean of 0 there. Where a constant would move a body, as under a
// piston, p is known, and nothing is taken off (closed_regions.h).
#pragma once

#include <cstdint>
#include <memory>

#include "compute/buffer.h"
#include "compute/view.h"
#include "spatial/closed_regions.h"
#include "spatial/level_tiles.h"
#include "spatial/poisson_bodies.h"
#include "spatial/tile_grid.h"

namespace barchan {

// Over the cells of a TileView. A face's coefficient is not negative, is 0 where nothing flows, and
// stands at the cell on whose low side the face is. Faces to tiles that do not exist count as 0.
// Cells without any coefficient or anchor are not unknowns: p = 0 there.
struct PoissonMatrix {
  View<const float> x, y, z;  // coefficients of the faces on the low side along each axis
  View<const float> anchor;   // not negative; what ties a cell to a pressure of 0 nearby
};

// What bodies that the pressure pushes add to the matrix: for each body K (J p), given back by J^T
// (Batty, Bertails & Bridson 2007, sec. 5). (J p)_b is the sum of j p[cell] over the body's
// entries: force and torque, for j from the body's faces, and K = dt x its inverse mass matrix. A
// cell may be in many entries, of one body or of several; entries in cells that are no unknowns do
// not count.
struct PoissonBodies {
  View<const std::uint32_t> cell;   // of each entry, number in the grid given to prepare()
  View<const float> j[6];           // of each entry
  View<const std::uint32_t> start;  // of each body's entries; one more
  View<const double> k;             // 36 a body, row by row; symmetric, positive (semi-)definite
};

struct PoissonLevels;  // fields over cells of one size each
struct StoreyTables;

struct PoissonReport {
  int iterations = 0;
  // Largest |b - A p| of a cell over the largest |b|, for the guess and at the end. As kept up by
  // the iteration: p itself is rounded to float, which adds about 1e-7 of D p.
  double first_residual = 0.0, last_residual = 0.0;
  double largest = 0.0;  // |b - A p| of a cell at the end, in the unit of b
};

template <class Device>
class PoissonSolver {
 public:
  explicit PoissonSolver(Device& device);
  ~PoissonSolver();

  // Bytes of the grid's cells: those that are not 0 alone can be unknowns of the next prepare(),
  // which otherwise looks for those that are. On a GPU the host then lays out the levels while what
  // was launched meanwhile runs.
  void expect(const TileView& grid, View<const std::uint8_t> cells);

  // Lays out the levels. Nothing of the arguments is kept.
  void prepare(const TileView& grid, const PoissonMatrix& matrix, const PoissonBodies& bodies = {});

  // The matrix of prepare, with fewer unknowns; those beside one that is gone must have an anchor
  // in its stead. The coarse levels stay as they are: a few iterations more, but nothing is laid
  // out anew. Nor is any region closed then that was not: nobody looks for one.
  void change(const PoissonMatrix& matrix, const PoissonBodies& bodies = {});

  // Until the residual is `tolerance` times the largest |b| or `absolute`, whichever is more, or
  // `most` iterations are done, or ten of them brought nothing. p: the guess, then the solution,
  // over the grid's cells. Where b is 0 everywhere, its largest counts as 1. Where b is no number,
  // neither is the residual, and p stays the guess. After prepare.
  PoissonReport solve(View<const float> b, View<float> p, double tolerance, int most,
                      double absolute = 0.0);

  // Whether two solutions can be under way at once, on a part of the GPU each: neither fills it
  // where there are few cells, for its stages wait for each other.
  bool has_room_beside() const;
  // Where there is room: the one between begin_aside and end_aside, and the next one after it.
  enum Part { kWhole, kAside, kBeside };

  // The same, and nobody waits for it on a GPU: the report is there once the device was waited for,
  // and stays until kReports more are made.
  static constexpr int kReports = 32;
  const PoissonReport* solve_later(View<const float> b, View<float> p, double tolerance, int most,
                                   double absolute = 0.0, Part part = kWhole);

  // out = M in, the preconditioner by itself, over the grid's cells.
  void precondition(View<const float> in, View<float> out);

 private:
  template <class Flag>
  void flag_tiles(const TileView& grid, Flag flag);
  void fetch_tiles(const TileView& grid);
  void lay_levels(const StoreyTables& tables);
  void lay_aside();

  Device& device_;
  Buffer<std::uint32_t> flags_;  // of the grid's tiles
  Buffer<std::uint64_t> found_;
  std::shared_ptr<void> fetched_;  // found_ on the host
  std::size_t fetched_room_ = 0;
  bool expected_ = false;
  Buffer<std::uint32_t> tables_, around_, rows_;
  Buffer<float> fields_;  // of all levels
  TileTable table_{};     // of the finest level's tiles in the grid's
  // What a solution works with. The one that may be made aside has the same matrices.
  struct Workplace {
    std::unique_ptr<PoissonLevels> levels;
    View<float> x, direction[2];  // of the finest level
  };
  Workplace main_, aside_;
  Buffer<float> aside_fields_;
  BodyTerm<Device> bodies_;
  ClosedRegions<Device> closed_;
  bool may_close_ = false;  // prepare() found closed regions
  Buffer<double> sums_;
  std::shared_ptr<void> reports_;  // kReports of them, on the host: a launch writes there
  int next_report_ = 0;
};

}  // namespace barchan
