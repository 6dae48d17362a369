// Good scenes: what is filled in, what comes back out, --set, and the pages made from the tables.
#include "scene/scene.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/units.h"
#include "compute/device.h"
#include "scene/node.h"
#include "scene/sections.h"
#include "sim/initial_state.h"
#include "sim/state.h"

namespace barchan {
namespace {

const std::string kFill = "[[fill]]\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n";

Scene read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_scene(text, "test.toml", overrides);
}

// The message of the Error that reading throws; "" where it is accepted.
std::string fault_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read(text, overrides);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::uint64_t particle_hash(const Scene& scene) {
  const std::unique_ptr<Device> device = make_cpu_device(1);
  const SolidSet solids = make_solids(scene, *device);
  State state(*device);
  fill_state(scene, solids, state);
  EXPECT_GT(state.size(), 0u);
  return hash_of(state);
}

// ---- Defaults ----

TEST(Scene, TheShortestSceneHasEveryDefault) {
  const Scene scene = read_scene(kFill, "shots/drop.toml");
  EXPECT_EQ(scene.name, "drop");
  EXPECT_EQ(scene.general.title, "");
  EXPECT_EQ(scene.general.solver, "ballistic");
  EXPECT_EQ(scene.general.duration, 2.0);
  EXPECT_EQ(scene.general.fps, 24.0);
  EXPECT_EQ(scene.general.resolution, 0.02);
  EXPECT_EQ(scene.general.gravity, Vec3d(0, -9.81, 0));
  EXPECT_EQ(scene.general.seed, 1u);
  EXPECT_EQ(scene.up(), Vec3d(0, 1, 0));
  EXPECT_EQ(scene.cache.every, 1);
  EXPECT_EQ(scene.cache.checkpoint_every, 10);
  EXPECT_EQ(scene.ballistic.dt_max, 0.005);
  EXPECT_EQ(scene.pbf.iterations, 3);
  EXPECT_FALSE(is_set(scene.camera.position));
}

TEST(Scene, WithoutMaterialsItIsWater) {
  const Scene scene = read(kFill);
  ASSERT_EQ(scene.materials.size(), 1u);
  EXPECT_EQ(scene.materials[0].name, "water");
  EXPECT_EQ(scene.materials[0].params.density, 1000.0);
  EXPECT_EQ(scene.materials[0].params.viscosity, 0.001);
  ASSERT_EQ(scene.fills.size(), 1u);
  EXPECT_EQ(scene.fills[0].material, 0);
  EXPECT_EQ(scene.fills[0].params.material, "water");
  EXPECT_EQ(scene.fills[0].params.sampling, "jittered");
  EXPECT_EQ(scene.fills[0].params.velocity, Vec3d());
}

TEST(Scene, SamplingFollowsTheSolverWhereNotGiven) {
  EXPECT_EQ(read("solver = \"pbf\"\n" + kFill).fills[0].params.sampling, "lattice");
  const Scene said = read("solver = \"pbf\"\n" + kFill + "sampling = \"jittered\"\n");
  EXPECT_EQ(said.fills[0].params.sampling, "jittered");
  for (const char* other : {"granular-sph", "dem"}) {
    EXPECT_STREQ(default_sampling(other), "lattice") << other;
  }
  for (const char* other : {"ballistic", "flip"}) {
    EXPECT_STREQ(default_sampling(other), "jittered") << other;
  }
  // What was decided is written down, so that the run's scene.toml says what was done
  const Scene scene = read("solver = \"pbf\"\n" + kFill);
  EXPECT_NE(to_toml(scene).find("sampling = \"lattice\""), std::string::npos);
}

TEST(Scene, SolidsGetNamesAndStandStill) {
  const Scene scene = read(kFill +
                           "[[solid]]\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n"
                           "[[solid]]\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n");
  ASSERT_EQ(scene.solids.size(), 2u);
  EXPECT_EQ(scene.solids[0].params.name, "solid1");
  EXPECT_EQ(scene.solids[1].params.name, "solid2");
  EXPECT_EQ(scene.solids[0].params.motion, "static");
  EXPECT_FALSE(scene.solids[0].params.inside_out);
  EXPECT_EQ(scene.solids[0].shape.shape.kind, Shape::Kind::sphere);
}

TEST(Scene, UpTurnsTheDefaultGravityOnly) {
  EXPECT_EQ(read("up = \"z\"\n" + kFill).general.gravity, Vec3d(0, 0, -9.81));
  EXPECT_EQ(read("up = \"z\"\n" + kFill).up(), Vec3d(0, 0, 1));
  EXPECT_EQ(read("up = \"z\"\ngravity = [1, 2, 3]\n" + kFill).general.gravity, Vec3d(1, 2, 3));
}

TEST(Scene, FilledInTextHasNoNegativeZero) {
  EXPECT_EQ(to_toml(read(kFill)).find("-0.0,"), std::string::npos);
}

// ---- What the product promises ----

// product.md's example with all that this version has. Integers stand where numbers are due.
const std::string kProductExample = R"(
title = "A sand column is released"
solver = "ballistic"
duration = 2.0
fps = 24
resolution = 0.05                 # particle spacing [m]
gravity = [0, -9.81, 0]
seed = 1

[material.sand]
density = 1600
friction_angle = 35
cohesion = 1.0
viscosity = 0
young = 1e7
poisson = 0.25
restitution = 0.5
friction = 0.6
rolling_friction = 0.01
grain = [ { center = [0, 0, 0], radius = 1 }, { center = [1, 0, 0], radius = 0.5 } ]
radius = [0.001, 0.002]
color = [0.8, 0.7, 0.5]

[[fill]]
material = "sand"
shape = { box = [[-0.2, 0, -0.2], [0.2, 0.6, 0.2]] }
velocity = [0, 0, 0]
angular_velocity = [0, 1, 0]

[[solid]]
name = "tank"
shape = { box = [[-1, 0, -0.3], [1, 1, 0.3]] }
inside_out = true
friction = 0.6
restitution = 0.2

[[solid]]
name = "ball"
shape = { sphere = { center = [0, 1, 0], radius = 0.1 } }
motion = "keyframes"
density = 7800
velocity = [0, 0, 0]
angular_velocity = [0, 0, 0]
keyframes = [
  { time = 0, position = [0, 0, 0], rotation = { axis = [0, 1, 0], angle = 90 } },
  { time = 1, position = [0, 1, 0] },
]

[flip]
transfer = "pic"
[pbf]
iterations = 4
[granular-sph]
scheme = "paper"
[dem]
integrator = "rkf45"
[rigid]
[cache]
every = 2
checkpoint_every = 5
keep = 3
[surface]
[render]
width = 640
height = 360
[camera]
position = [0, 1, 3]
target = [0, 0, 0]
)";

TEST(Scene, ReadsTheExampleOfTheProduct) {
  const Scene scene = read(kProductExample);
  EXPECT_EQ(scene.general.title, "A sand column is released");
  const MaterialParams& sand = scene.materials.at(0).params;
  EXPECT_EQ(sand.density, 1600.0);
  EXPECT_EQ(sand.radius, (std::vector<double>{0.001, 0.002}));
  EXPECT_EQ(sand.color, Vec3d(0.8, 0.7, 0.5));
  EXPECT_TRUE(scene.solids.at(0).params.inside_out);
  const SceneSolid& ball = scene.solids.at(1);
  ASSERT_EQ(ball.keyframes.size(), 2u);
  EXPECT_EQ(ball.keyframes[0].angle, radians(90.0));
  EXPECT_EQ(ball.keyframes[1].position, Vec3d(0, 1, 0));
  EXPECT_EQ(scene.cache.every, 2);
  EXPECT_EQ(scene.render.width, 640);
  EXPECT_EQ(scene.camera.position, Vec3d(0, 1, 3));
}

TEST(Scene, SectionsOfOtherSolversAreKeptThoughTheyDoNothing) {
  const Scene scene = read(kProductExample);
  EXPECT_EQ(scene.general.solver, "ballistic");
  EXPECT_EQ(scene.flip.transfer, "pic");
  EXPECT_EQ(scene.pbf.iterations, 4);
  EXPECT_EQ(scene.granular_sph.scheme, "paper");
  EXPECT_EQ(scene.dem.integrator, "rkf45");
  const std::string head = kFill + "[pbf]\n";
  EXPECT_EQ(particle_hash(read("resolution = 0.1\n" + kFill)),
            particle_hash(read("resolution = 0.1\n" + head + "iterations = 9\n")));
  EXPECT_NE(fault_of(head + "iterations = 0\n"), "");
  EXPECT_NE(fault_of(head + "iterationz = 4\n"), "");
}

TEST(Scene, PresetsGiveWayToWhatStandsBesideThem) {
  // The order in the file does not matter.
  const Scene scene = read(
      "[material.a]\ndensity = 1500\npreset = \"dry-sand\"\n"
      "[material.b]\npreset = \"wet-sand\"\ncohesion = 20\n"
      "[material.c]\npreset = \"gravel\"\n" +
      kFill);
  EXPECT_EQ(scene.materials.at(0).params.density, 1500.0);
  EXPECT_EQ(scene.materials.at(0).params.friction_angle, 35.0);
  EXPECT_EQ(scene.materials.at(1).params.density, 1900.0);
  EXPECT_EQ(scene.materials.at(1).params.cohesion, 20.0);
  EXPECT_EQ(scene.materials.at(2).params.friction_angle, 42.0);
}

TEST(Scene, MaterialsKeepTheOrderOfTheFile) {
  const Scene scene = read("[material.zinc]\n[material.ash]\n[material.mud]\n" + kFill +
                           "[[fill]]\nmaterial = \"mud\"\n"
                           "shape = { box = [[2, 0, 0], [3, 1, 1]] }\n");
  ASSERT_EQ(scene.materials.size(), 3u);
  EXPECT_EQ(scene.materials[0].name, "zinc");
  EXPECT_EQ(scene.materials[1].name, "ash");
  EXPECT_EQ(scene.fills[0].params.material, "zinc");  // the first where none is named
  EXPECT_EQ(scene.fills[1].material, 2);
}

TEST(Scene, FramesAreCountedToTheNearestHair) {
  const auto frames = [](const std::string& head) { return read(head + kFill).frame_count(); };
  EXPECT_EQ(frames("duration = 2\nfps = 24\n"), 48);
  EXPECT_EQ(frames("duration = 0.1\nfps = 30\n"), 3);
  EXPECT_EQ(frames("duration = 0.7\nfps = 10\n"), 7);  // 0.7 * 10 is a hair below 7
  EXPECT_EQ(frames("duration = 4.35\nfps = 100\n"), 435);
  EXPECT_EQ(frames("duration = 1.99\nfps = 24\n"), 47);
  EXPECT_EQ(frames("duration = 0\n"), 0);
  EXPECT_EQ(frames("duration = 1\nfps = 23.976\n"), 23);
}

// ---- Text, scene, text ----

const std::string kOddNumbers = R"(
title = "quotes \" and \\ and \t and é"
resolution = 0.1
duration = 0.3333333333333333
fps = 23.976
gravity = [1e-7, -9.80665, 0.1]
seed = 9000000000000000000
up = "z"

[material.b]
preset = "wet-sand"
cohesion = 1e-7
radius = 0.1
[material.a]
grain = "cube"

[[fill]]
material = "a"
shape = { box = [[-0.3333333333333333, 0, 0.1], [0.7, 1.1, 0.9000000000000001]], rotate = { axis = [1, 2, 3], angle = 17.3 }, translate = [0.1, -1e-7, 2] }
velocity = [0.1, 0.2, 0.30000000000000004]
angular_velocity = [0, 1e-7, 0]
[[fill]]
sampling = "lattice"
shape = { difference = [ { torus = { center = [5, 0, 0], axis = [0.1, 1, 0], major = 1, minor = 0.4 } }, { offset = { shape = { sphere = { center = [6, 0, 0], radius = 0.3 } }, by = 0.05 } }, { cone = { from = [4, -1, 0], to = [4, 1, 0], radius = 0.3, radius_to = 0.1 } } ], rotate = { axis = [0, 1, 0], angle = -0.1 } }
[[fill]]
jitter = 0.123456789012345678
shape = { union = [ { capsule = { from = [0, 5, 0], to = [1, 6, 0], radius = 0.31 } }, { intersection = [ { cylinder = { from = [0, 7, 0], to = [0, 8, 0.1], radius = 0.5 } }, { plane = { point = [0, 7.5, 0], normal = [0.1, 1, 0] } } ] } ] }

[[solid]]
name = "mill"
shape = { box = [[-9, -9, -9], [9, 9, 9]], rotate = { axis = [0.3, 0.1, 0.2], angle = 33.3 } }
inside_out = true
motion = "keyframes"
keyframes = [ { time = -0.1, rotation = { axis = [1, 0.1, 0], angle = 12.7 } }, { time = 0.2, position = [1e-7, 0.1, 0] } ]

[camera]
fov = 33.3
position = [0.1, 0.2, 0.3]
)";

class FixedPoint : public testing::TestWithParam<std::string> {};

TEST_P(FixedPoint, TheFilledInSceneReadsBackToItself) {
  const Scene scene = read(GetParam());
  const std::string filled_in = to_toml(scene);
  const Scene again = read(filled_in);
  EXPECT_EQ(to_toml(again), filled_in);
  EXPECT_EQ(particle_hash(again), particle_hash(scene));
  EXPECT_EQ(again.solids.size(), scene.solids.size());
  for (std::size_t s = 0; s < scene.solids.size(); ++s) {
    const std::vector<Keyframe>& before = scene.solids[s].keyframes;
    const std::vector<Keyframe>& after = again.solids[s].keyframes;
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(after[k].time, before[k].time);
      EXPECT_EQ(after[k].position, before[k].position);
      EXPECT_EQ(after[k].axis, before[k].axis);
      EXPECT_EQ(after[k].angle, before[k].angle);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, FixedPoint,
                         testing::Values("resolution = 0.1\n" + kFill, kProductExample,
                                         kOddNumbers));

TEST(Scene, NumbersComeBackBitForBit) {
  const Scene scene = read(kOddNumbers);
  const Scene again = read(to_toml(scene));
  EXPECT_EQ(again.general.duration, 0.3333333333333333);
  EXPECT_EQ(again.general.gravity, Vec3d(1e-7, -9.80665, 0.1));
  EXPECT_EQ(again.general.seed, 9000000000000000000u);
  EXPECT_EQ(again.general.title, scene.general.title);
  EXPECT_EQ(again.materials.at(0).name, "b");
  EXPECT_EQ(again.materials.at(0).params.radius, std::vector<double>{0.1});
  EXPECT_EQ(again.fills.at(2).params.jitter, 0.123456789012345678);
  EXPECT_EQ(again.fills.at(0).shape.shape.placement, scene.fills.at(0).shape.shape.placement);
}

RC_GTEST_PROP(SceneProperty, EveryNumberReadsBackToTheSameBits, (double number)) {
  const Node document = parse_toml("x = " + toml_number(number), "test.toml");
  RC_ASSERT(document.members.at(0).value.number == number);
}

RC_GTEST_PROP(SceneProperty, EveryTextReadsBackToItself, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  const Node document = parse_toml("x = " + toml_string(text), "test.toml");
  RC_ASSERT(document.members.at(0).value.text == text);
}

// ---- --set ----

TEST(Override, ReachesTheTopSectionsAndItems) {
  const Scene scene =
      read(kProductExample,
           {"resolution=0.04", "solver=ballistic", "pbf.iterations=7", "material.sand.density=1700",
            "solid.tank.friction=0.1", "solid.2.restitution=0.9", "fill.1.velocity=[0, 0, 1]",
            "fill.1.shape.box=[[0, 0, 0], [0.2, 0.2, 0.2]]", "solid.ball.keyframes.2.time=1.5",
            "title=plain words here", "material.sand.preset=gravel", "camera.fov=20"});
  EXPECT_EQ(scene.general.resolution, 0.04);
  EXPECT_EQ(scene.general.title, "plain words here");
  EXPECT_EQ(scene.pbf.iterations, 7);
  EXPECT_EQ(scene.materials.at(0).params.density, 1700.0);
  EXPECT_EQ(scene.materials.at(0).params.preset, "gravel");
  EXPECT_EQ(scene.solids.at(0).params.friction, 0.1);
  EXPECT_EQ(scene.solids.at(1).params.restitution, 0.9);
  EXPECT_EQ(scene.solids.at(1).keyframes.at(1).time, 1.5);
  EXPECT_EQ(scene.fills.at(0).params.velocity, Vec3d(0, 0, 1));
  EXPECT_EQ(scene.fills.at(0).shape.shape.hi, Vec3d(0.2, 0.2, 0.2));
  EXPECT_EQ(scene.camera.fov, 20.0);
}

TEST(Override, MakesSectionsThatTheFileLacks) {
  EXPECT_EQ(read(kFill, {"pbf.iterations=7"}).pbf.iterations, 7);
  EXPECT_EQ(read(kFill, {"title=\"a = b\""}).general.title, "a = b");
}

TEST(Override, TheLastOneWins) {
  EXPECT_EQ(read(kFill, {"fps=30", "fps=60"}).general.fps, 60.0);
}

TEST(Override, SaysWhatIsWrong) {
  const auto fault = [](const std::string& setting) {
    return fault_of(kProductExample, {setting});
  };
  EXPECT_EQ(fault("resolution"),
            "--set resolution: expected section.key=value, for example resolution=0.01");
  EXPECT_EQ(fault("=3"), "--set =3: expected section.key=value, for example resolution=0.01");
  EXPECT_EQ(fault("pbf..iterations=3"),
            "--set pbf..iterations=3: 'pbf..iterations' has an empty part");
  EXPECT_EQ(fault("fps="), "--set fps=: the value is not valid TOML");
  EXPECT_EQ(fault("gravity=[0, 1"), "--set gravity=[0, 1: the value is not valid TOML");
  EXPECT_EQ(fault("fps=30\nseed=2"), "--set fps=30\\u000Aseed=2: the value is not valid TOML");
  EXPECT_EQ(fault("resolutoin=0.1"),
            "--set resolutoin=0.1: unknown key 'resolutoin' in the scene; did you mean "
            "'resolution'?");
  EXPECT_EQ(
      fault("fps=fast"),
      "--set fps=fast: 'fps' in the scene must be a number above 0 up to 100000 [1/s], not the "
      "text \"fast\"");
  EXPECT_EQ(
      fault("solid.tnak.friction=1"),
      "--set solid.tnak.friction=1: there is no solid 'tnak'; the scene has 2 of them, counted "
      "from 1");
  EXPECT_EQ(fault("fill.2.jitter=1"),
            "--set fill.2.jitter=1: there is no fill '2'; the scene has 1 of them, counted from 1");
  EXPECT_EQ(fault("fill.0.jitter=1"),
            "--set fill.0.jitter=1: there is no fill '0'; the scene has 1 of them, counted from 1");
  EXPECT_EQ(fault("fill.jitter=1"),
            "--set fill.jitter=1: 'fill' is a list: name one item and its key, for example "
            "fill.1.key=value");
  EXPECT_EQ(fault("fps.x=1"), "--set fps.x=1: 'fps' is the number 24, not a table");
  EXPECT_EQ(fault_of(kFill, {"solid.tank.friction=1"}),
            "--set solid.tank.friction=1: the scene has no [[solid]] to set this in");
}

TEST(Override, ReachesKeyframesAndShapes) {
  const std::string text = std::string(kFill) +
                           "[[solid]]\nname = \"lid\"\nmotion = \"keyframes\"\n"
                           "shape = { sphere = { center = [0, 9, 0], radius = 1 } }\n"
                           "keyframes = [ { time = 0 }, { time = 1, position = [0, 1, 0] } ]\n";
  const Scene scene =
      read(text, {"solid.lid.keyframes.2.position=[0, 2, 0]", "solid.lid.shape.sphere.radius=0.5"});
  EXPECT_EQ(scene.solids[0].keyframes[1].position.y, 2.0);
  EXPECT_DOUBLE_EQ(bounds(scene.solids[0].shape.shape).hi.y, 9.5);
}

// ---- [paper] ----

TEST(Scene, LightsAndAMovingCameraAreReadAndWrittenBack) {
  const std::string text =
      "[[fill]]\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n"
      "[[light]]\nposition = [0, 3, 0]\ntarget = [0, 0, 0]\nstrength = 4\n"
      "[camera]\nkeyframes = [ { time = 0, position = [0, 1, 5], target = [0, 0, 0] }, "
      "{ time = 2, position = [5, 1, 0], target = [0, 0.5, 0] } ]\n";
  const Scene scene = read_scene(text, "scene.toml");
  ASSERT_EQ(scene.lights.size(), 1u);
  EXPECT_EQ(scene.lights[0].strength, 4.0);
  ASSERT_EQ(scene.camera.keyframes.size(), 2u);
  EXPECT_EQ(scene.camera.keyframes[1].target, Vec3d(0, 0.5, 0));
  const Scene again = read_scene(to_toml(scene), "scene.toml");
  EXPECT_EQ(to_toml(again), to_toml(scene));
  ASSERT_EQ(again.camera.keyframes.size(), 2u);
  EXPECT_EQ(again.camera.keyframes[1].position, Vec3d(5, 1, 0));
  EXPECT_EQ(again.lights[0].position, Vec3d(0, 3, 0));
}

TEST(Paper, IsReadAndWrittenBack) {
  const std::string text = std::string(kFill) +
                           "[paper]\nfigure = \"ZB 1\"\nquick = [\"resolution=0.1\"]\n"
                           "[[paper.number]]\nname = \"particles\"\ntheirs = 269322\n"
                           "ours = \"run.particles\"\n"
                           "[[paper.number]]\nname = \"shown only\"\nours = 1\n"
                           "[[paper.variant]]\nname = \"calm\"\nset = [\"seed=2\"]\n"
                           "[[paper.plot]]\nname = \"p\"\nkind = \"histogram\"\nvalue = \"y\"\n"
                           "at = 0.5\nruns = [\"calm\", \"run\"]\n";
  const Scene scene = read(text);
  ASSERT_EQ(scene.paper.numbers.size(), 2u);
  EXPECT_FALSE(is_set(scene.paper.numbers[1].theirs));
  ASSERT_EQ(scene.paper.variants.size(), 1u);
  EXPECT_EQ(scene.paper.variants[0].set, (std::vector<std::string>{"seed=2"}));
  ASSERT_EQ(scene.paper.plots.size(), 1u);
  EXPECT_EQ(scene.paper.plots[0].at, 0.5);
  EXPECT_EQ(scene.paper.plots[0].runs, (std::vector<std::string>{"calm", "run"}));
  EXPECT_EQ(scene.paper.numbers[0].theirs, 269322.0);
  EXPECT_EQ(scene.paper.quick, (std::vector<std::string>{"resolution=0.1"}));
  EXPECT_EQ(to_toml(read(to_toml(scene))), to_toml(scene));
  EXPECT_NE(to_toml(scene).find("ours = \"run.particles\""), std::string::npos);
  EXPECT_EQ(to_toml(read(kFill)).find("[paper]"), std::string::npos);
}

TEST(Paper, FaultsNameThePlace) {
  const std::string paper = std::string(kFill) + "[paper]\n";
  EXPECT_NE(fault_of(paper + "figur = \"ZB 1\"\n").find("did you mean 'figure'?"),
            std::string::npos);
  EXPECT_NE(
      fault_of(paper + "[[paper.number]]\nname = \"n\"\n").find("[[paper.number]] needs 'ours'"),
      std::string::npos);
  EXPECT_NE(fault_of(paper + "[paper.plot]\nname = \"p\"\n").find("[[paper.plot]] with two"),
            std::string::npos);
  EXPECT_NE(fault_of(paper + "[[paper.plot]]\nname = \"p\"\n").find("plot 'p' of [paper] needs"),
            std::string::npos);
  const std::string variant = "[[paper.variant]]\nname = \"calm\"\nset = []\n";
  EXPECT_NE(fault_of(paper + variant + variant).find("two runs of [paper] are called 'calm'"),
            std::string::npos);
  const std::string plot = "[[paper.plot]]\nname = \"p\"\nvalue = 1\nruns = [\"clam\"]\n";
  EXPECT_NE(fault_of(paper + variant + plot).find("did you mean 'calm'?"), std::string::npos);
  EXPECT_NE(fault_of(paper + "quick = [1]\n").find("a list of texts"), std::string::npos);
}

// ---- Shipped scenes ----

TEST(ShippedScenes, AllRead) {
  const std::vector<ShippedScene> shipped = shipped_scenes();
  EXPECT_FALSE(shipped.empty());
  for (const ShippedScene& scene : shipped) {
    SCOPED_TRACE(scene.name);
    EXPECT_FALSE(scene.title.empty());
    const Scene by_name = load_scene(scene.name);
    const Scene by_path = load_scene(scene.path.string());
    EXPECT_EQ(to_toml(by_name), to_toml(by_path));
    EXPECT_EQ(to_toml(read(to_toml(by_name))), to_toml(by_name));
  }
}

TEST(ShippedScenes, ANameThatIsNoneGetsTheNearest) {
  const auto fault = [](const std::string& name) -> std::string {
    try {
      load_scene(name);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(fault("spining-drop"),
            "no scene 'spining-drop': it is neither a file nor a shipped scene (did you mean "
            "'spinning-drop'?)");
  EXPECT_EQ(
      fault("xyzzyxyzzyxyzzy"),
      "no scene 'xyzzyxyzzyxyzzy': it is neither a file nor a shipped scene (`barchan scenes` "
      "lists them)");
}

TEST(Scene, AFileThatIsTooLargeIsRefused) {
  EXPECT_EQ(fault_of(std::string((16 << 20) + 1, '\n')),
            "test.toml: a scene file of more than 16 MiB is refused");
}

TEST(Scene, DepthDoesNotOverflowTheStack) {
  std::string dotted = "a";
  for (int i = 0; i < 1'000'000; ++i) dotted += ".a";
  EXPECT_EQ(fault_of(dotted + " = 1\n"), "test.toml:1:34: this key has more than 16 dots");
  EXPECT_EQ(fault_of("[" + dotted + "]\n"), "test.toml:1:35: this key has more than 16 dots");
  // Quotes do not hide dots of keys, nor are dots of texts and comments counted.
  std::string quoted = "'='";
  for (int i = 0; i < 100; ++i) quoted += ".\"\\\"=\"";
  EXPECT_NE(fault_of(quoted + " = 1\n").find("16 dots"), std::string::npos);
  const std::string dots(200, '.');
  EXPECT_EQ(fault_of("title = \"" + dots + "\"  # " + dots + "\n" + kFill), "");
  EXPECT_EQ(fault_of("title = '''\n" + dots + "''\n" + dots + "'''\n" + kFill), "");
  const std::string open(100'000, '[');
  EXPECT_EQ(fault_of("x = " + open), "test.toml:1:101: brackets go more than 96 deep");
}

TEST(Scene, CharactersBeyondAsciiBelongInTextsAndComments) {
  EXPECT_EQ(read("title = \"sable \u00e9t\u00e9\"  # \u00e9\n" + kFill).general.title,
            "sable \u00e9t\u00e9");
  EXPECT_EQ(fault_of("\xef\xbb\xbf" + kFill), "");  // a byte order mark
  EXPECT_EQ(fault_of("\u00e9t\u00e9 = 1\n" + kFill),
            "test.toml:1:1: not valid TOML: only ASCII may stand outside of quotes and comments");
  EXPECT_EQ(fault_of("title = \"\u00e9\" \u00e9\n" + kFill),
            "test.toml:1:13: not valid TOML: only ASCII may stand outside of quotes and comments");
  // After a backslash in a text of many lines toml++ would ask whether they are spaces.
  const std::string many_lines = "title = \"\"\"a\\\\\u00e9 \\\n  b\"\"\"\n";
  EXPECT_EQ(read(many_lines + kFill).general.title, "a\\\u00e9 b");
  EXPECT_EQ(fault_of("title = \"\"\"a \\\n \u00e9\"\"\"\n" + kFill),
            "test.toml:2:2: only ASCII may follow a backslash; put this character before it");
}

// ---- Nearest names ----

TEST(Scene, SuggestsTheNearestName) {
  const auto fault = [](const std::string& head) { return fault_of(head + "\n" + kFill); };
  EXPECT_TRUE(fault("sovler = \"pbf\"").ends_with("did you mean 'solver'?"));
  EXPECT_TRUE(fault("[materials.sand]").ends_with("did you mean 'material'?"));
  EXPECT_TRUE(fault("[granular_sph]").ends_with("did you mean 'granular-sph'?"));
  EXPECT_TRUE(
      fault("[material.m]\nfriction_angel = 3").ends_with("did you mean 'friction_angle'?"));
  EXPECT_TRUE(fault("[flip]\nfriction = \"couple\"").ends_with("did you mean \"coupled\"?"));
}

// ---- Pages made from the tables ----

TEST(Reference, TheSchemaListsEveryKey) {
  const nlohmann::json schema = nlohmann::json::parse(parameter_json_schema());
  const nlohmann::json& top = schema.at("properties");
  for (const ParamTable* table : all_tables()) {
    std::string section = table->section;
    const nlohmann::json* properties = &top;
    if (section == "material.NAME") {
      properties = &top.at("material").at("additionalProperties").at("properties");
    } else if (section.starts_with("[paper.")) {
      const std::string key = section.substr(7, section.size() - 8);
      properties = &top.at("paper").at("properties").at(key).at("items").at("properties");
    } else if (section.starts_with("[")) {
      section = section.substr(1, section.size() - 2);
      properties = &top.at(section).at("items").at("properties");
    } else if (!section.empty()) {
      properties = &top.at(section).at("properties");
    }
    for (const ParamField& field : table->fields) {
      SCOPED_TRACE(table->section + "." + field.name);
      ASSERT_TRUE(properties->contains(field.name));
      EXPECT_FALSE(properties->at(field.name).at("description").get<std::string>().empty());
    }
  }
}

TEST(Reference, TheTextPagesListEveryKey) {
  const std::string page = parameter_markdown();
  const std::string terminal = parameter_text("");
  for (const ParamTable* table : all_tables()) {
    EXPECT_NE(page.find(table->help), std::string::npos);
    for (const ParamField& field : table->fields) {
      SCOPED_TRACE(table->section + "." + field.name);
      EXPECT_NE(page.find("| `" + field.name + "` | "), std::string::npos);
      EXPECT_NE(page.find(field.help), std::string::npos);
      EXPECT_EQ(field.help.find('|'), std::string::npos) << "would break the table";
      EXPECT_NE(terminal.find("  " + field.name), std::string::npos);
    }
  }
}

TEST(Reference, OneSectionAloneOrTheNearestName) {
  for (const char* section : {"pbf", "fill", "material", "granular-sph", "camera"}) {
    EXPECT_LT(parameter_text(section).size(), parameter_text("").size()) << section;
  }
  try {
    parameter_text("fil");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no section 'fil'; did you mean 'fill'?");
  }
}

// ---- Mutated scenes ----

// One to eight small accidents: a byte changed, bytes lost or added, a line said twice.
std::string mutated(std::string text) {
  const int accidents = *rc::gen::inRange(1, 9);
  for (int i = 0; i < accidents && !text.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << *rc::gen::inRange(0, 8)));
        break;
      case 2:
        text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
        break;
      case 3:
        text.insert(at, *rc::gen::elementOf(std::vector<std::string>{
                            "[",         "]",          "{",  "}",    "\"",
                            "'''",       "=",          ".",  ",",    "\n",
                            "\r",        "#",          "-",  "e9",   "nan",
                            "1e400",     "\"\\n\" = ", "[[", "\xff", "\xe2\x80\xa8",
                            "9999999999"}));
        break;
      default: {
        const std::size_t begin =
            text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at);
        const std::size_t end = std::min(text.find('\n', at + 1), text.size());
        const std::string line = text.substr(begin, end - begin);
        text.insert(end, line);
      }
    }
  }
  return text;
}

RC_GTEST_PROP(SceneProperty, MutatedScenesReadOrSayWhyInOneLine, ()) {
  const std::string text = mutated(*rc::gen::element(kFill, kProductExample, kOddNumbers));
  try {
    const Scene scene = read(text);
    const std::string filled_in = to_toml(scene);
    RC_ASSERT(to_toml(read(filled_in)) == filled_in);
  } catch (const Error& error) {
    const std::string message = error.what();
    RC_ASSERT(message.starts_with("test.toml:"));
    RC_ASSERT(std::none_of(message.begin(), message.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    }));
  }
}

}  // namespace
}  // namespace barchan
