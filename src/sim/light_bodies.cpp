#include "sim/light_bodies.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace barchan {

namespace {

constexpr int kMostTries = 8;

std::string key(const char* what, const BodyState& body, int c) {
  return fmt::format("{}.{}.{}", what, body.name, c);
}

Vec3d read(const State& now, const char* what, std::size_t solid) {
  Vec3d v;
  for (int c = 0; c < 3; ++c) {
    const auto found = now.scalars.find(key(what, now.bodies[solid], c));
    if (found != now.scalars.end()) v[c] = found->second;
  }
  return v;
}

}  // namespace

// The mass that goes along is that of a disc as wide as the body with liquid on one side.
LightBodies::LightBodies(const RigidBodies& bodies, double most, double density, double spacing)
    : spacing_(spacing) {
  for (int b = 0; b < bodies.count(); ++b) {
    const Vec3d half = bodies[b].half_axes();
    const double r = 4.0 / 3.0 * density * std::pow(half.y * half.z, 1.5) / bodies[b].mass;
    if (!(r > most)) continue;
    Light light;
    light.solid = static_cast<std::size_t>(bodies.solid(b));
    light.mass = bodies[b].mass;
    light.size = half.z;
    light.least = 1.0 / (1.0 + r);
    lights_.push_back(light);
  }
}

void LightBodies::begin(const State& now, double g, double dt) {
  tries_ = 0;
  tolerance_ = std::max(0.5 * g * dt, 1e-4 * spacing_ / dt);
  for (Light& light : lights_) {
    light.omega = light.least;
    light.linear = dt * read(now, "force", light.solid);
    light.angular = dt * read(now, "torque", light.solid);
  }
}

void LightBodies::kick_first(BodyImpulses& first) const {
  for (const Light& light : lights_) {
    first.linear[light.solid] = light.linear;
    first.angular[light.solid] = light.angular;
  }
}

bool LightBodies::improve(BodyImpulses& out) {
  ++tries_;
  bool agree = true;
  for (Light& light : lights_) {
    const Vec3d J = out.linear[light.solid], L = out.angular[light.solid];
    const Vec3d rest = J - light.linear, turn = L - light.angular;
    const double weight = 1.0 / (light.size * light.size);
    if (tries_ > 1) {
      const Vec3d d = rest - light.rest_linear, e = turn - light.rest_angular;
      const double change = dot(d, d) + weight * dot(e, e);
      const double along = dot(light.rest_linear, d) + weight * dot(light.rest_angular, e);
      const double fit = change > 0.0 ? -light.omega * along / change : 0.0;
      light.omega = fit > 0.0 ? std::clamp(fit, 0.1 * light.least, 1.0) : light.least;
    }
    light.rest_linear = rest;
    light.rest_angular = turn;
    const auto speed = [&](const Vec3d& a, const Vec3d& b) {
      return std::sqrt(dot(a, a) + weight * dot(b, b)) / light.mass;
    };
    agree = agree && speed(rest, turn) <= tolerance_ + 0.05 * speed(J, L);
  }
  const bool again = !agree && tries_ < kMostTries;
  for (Light& light : lights_) {
    const double share = agree ? 1.0 : light.omega;
    const Vec3d J = share * light.rest_linear, L = share * light.rest_angular;
    if (again) {
      light.linear += J;
      light.angular += L;
    } else {
      out.linear[light.solid] = J;
      out.angular[light.solid] = L;
    }
  }
  return again;
}

void LightBodies::remember(const BodyImpulses& first, const BodyImpulses& out, double dt,
                           State& now) const {
  for (const Light& light : lights_) {
    const std::size_t s = light.solid;
    for (int c = 0; c < 3; ++c) {
      now.scalars[key("force", now.bodies[s], c)] = (first.linear[s][c] + out.linear[s][c]) / dt;
      now.scalars[key("torque", now.bodies[s], c)] = (first.angular[s][c] + out.angular[s][c]) / dt;
    }
  }
}

}  // namespace barchan
