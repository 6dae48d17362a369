// The liquid's contacts with solids on a device: listed, sorted by solid, those of dynamic bodies
// first, for the pressure solve moves these.
#pragma once

#include <vector>

#include "compute/buffer.h"
#include "math/mat3.h"
#include "rigid/rigid_body.h"
#include "sim/solver.h"
#include "solvers/flip/contact_kernels.h"
#include "spatial/poisson.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

// What a pressure does to a solid, about its own origin.
struct Push {
  Vec3d linear, angular;
};

template <class Device>
class Contacts {
 public:
  Contacts(Device& device, const std::vector<Solid>& solids)
      : device_(device),
        rank_of_(device),
        rank_(device),
        place_(device),
        cell_(device),
        count_(device),
        start_(device),
        k_(device),
        sums_(device),
        numbers_(device),
        unsorted_cell_(device),
        unsorted_(device) {
    std::vector<std::uint32_t> ranks(solids.size());
    for (const bool dynamic : {true, false}) {
      for (std::size_t s = 0; s < solids.size(); ++s) {
        if ((solids[s].drive == SolidDrive::dynamic) != dynamic) continue;
        ranks[s] = static_cast<std::uint32_t>(solid_at_.size());
        solid_at_.push_back(s);
        if (dynamic) bodies_.emplace_back(solids[s].mass.mass, solids[s].mass.inertia);
      }
    }
    rank_of_.upload(ranks);
  }

  std::size_t dynamic() const { return bodies_.size(); }

  void list(const CellContacts& how, std::int64_t cells, const LayerView& near) {
    const std::size_t solids = solid_at_.size();
    count_.resize(static_cast<std::size_t>(cells));
    count_.clear_to_zero();
    for_each_of(device_, "contacts", near, CountContacts{how.closed, count_.view()});
    const std::size_t n =
        device_.exclusive_scan("contacts", std::as_const(count_).view(), count_.view());
    for (Buffer<std::uint32_t>* column : {&rank_, &place_, &cell_}) column->resize(n);
    numbers_.resize(12 * n);
    ListContacts list{how};
    list.rank_of = std::as_const(rank_of_).view();
    list.first = std::as_const(count_).view();
    list.out = columns(cell_, numbers_);
    start_.resize(solids + 1);
    if (solids == 1) {
      for_each_of(device_, "contacts", near, list);
      first_ = {0, static_cast<std::uint32_t>(n)};
      start_.upload(first_);
      return;
    }
    unsorted_cell_.resize(n);
    unsorted_.resize(12 * n);
    const ContactsView sorted = list.out;
    list.out = columns(unsorted_cell_, unsorted_);
    for_each_of(device_, "contacts", near, list);
    int bits = 1;
    while ((solids >> bits) != 0) ++bits;
    device_.sort_pairs("contacts", rank_.view(), place_.view(), bits);
    for_each(device_, "contacts", static_cast<std::int64_t>(n), SortContacts{list.out, sorted});
    for_each(device_, "contacts", static_cast<std::int64_t>(solids) + 1,
             FirstContacts{std::as_const(rank_).view(), start_.view()});
    first_ = start_.download();
  }

  // On each solid; without q what does not depend on it.
  std::vector<Push> push(View<const float> q) {
    const std::size_t solids = solid_at_.size();
    sums_.resize(solids);
    for (std::size_t s = 0; s < solids; ++s) {
      PushOfContacts one{std::as_const(cell_).view(), {}, {}, q, first_[s]};
      const ContactsView all = columns(cell_, numbers_);
      for (int k = 0; k < 6; ++k) one.j[k] = all.j[k], one.more[k] = all.more[k];
      reduce_to<JoinSix>(device_, "push solids", std::int64_t{first_[s + 1]} - first_[s], one,
                         sums_.data() + s);
    }
    const std::vector<SixSums> sums = sums_.download();
    std::vector<Push> pushes(solids);
    for (std::size_t s = 0; s < solids; ++s) {
      const double* of = sums[s].of;
      pushes[solid_at_[s]] = {{of[0], of[1], of[2]}, {of[3], of[4], of[5]}};
    }
    return pushes;
  }

  // What impulses do to a dynamic solid's velocities.
  void kick(std::size_t body, const Push& impulse, BodyState& state) const {
    const RigidBody& of = bodies_[body];
    state.velocity += (1.0 / of.mass) * impulse.linear;
    state.angular_velocity += of.angular_velocity(state.orientation, impulse.angular);
  }
  std::size_t solid_of(std::size_t body) const { return solid_at_[body]; }

  // For the pressure solve; `mass` of a full cell [kg].
  PoissonBodies bodies(const std::vector<BodyState>& states, double mass) {
    if (bodies_.empty()) return {};
    std::vector<double> k;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const RigidBody& body = bodies_[b];
      const Quatd& turn = states[solid_at_[b]].orientation;
      double all[6][6] = {};
      for (int c = 0; c < 3; ++c) {
        const Vec3d axis(c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0);
        const Vec3d spin = mass * body.angular_velocity(turn, axis);
        all[c][c] = mass / body.mass;
        for (int r = 0; r < 3; ++r) all[3 + r][3 + c] = spin[r];
      }
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 6; ++c) k.push_back(0.5 * (all[r][c] + all[c][r]));
      }
    }
    k_.upload(k);
    const std::size_t count = first_[bodies_.size()];
    PoissonBodies out{
        {cell_.data(), count}, {}, {start_.data(), bodies_.size() + 1}, std::as_const(k_).view()};
    for (int c = 0; c < 6; ++c) out.j[c] = columns(cell_, numbers_).j[c];
    return out;
  }

 private:
  ContactsView columns(Buffer<std::uint32_t>& cell, Buffer<float>& numbers) {
    ContactsView view{rank_.view(), place_.view(), cell.view(), {}, {}};
    const std::size_t n = cell.size();
    for (std::size_t k = 0; k < 6; ++k) {
      view.j[k] = {numbers.data() + k * n, n};
      view.more[k] = {numbers.data() + (6 + k) * n, n};
    }
    return view;
  }

  Device& device_;
  std::vector<std::size_t> solid_at_;  // by rank
  std::vector<RigidBody> bodies_;
  std::vector<std::uint32_t> first_;  // of each rank's contacts; one more
  Buffer<std::uint32_t> rank_of_, rank_, place_, cell_, count_, start_;
  Buffer<double> k_;
  Buffer<SixSums> sums_;
  Buffer<float> numbers_;  // j and more
  // As they were listed.
  Buffer<std::uint32_t> unsorted_cell_;
  Buffer<float> unsorted_;
};

}  // namespace barchan::flip
