"""A run of Barchan in Blender: its surface or its particles over time, its solids, a camera and light.

    blender --background --python tools/blender_import.py -- DIR [--frame N] [--points]
            [--size WxH] [--samples N] [--out picture.png] [--save scene.blend]

DIR is a run folder. The surface comes from `barchan surface DIR`, and so do the solids' meshes
(DIR/surface/solids.obj; where they are over time is in DIR/bodies.csv). --points draws the particles
instead: from DIR/frames if Python has h5py, else from `barchan export DIR --to ply`.

Meshes are read when Blender comes to a frame. A saved file keeps this script and the path of the run
with it, and reads on when it is opened with scripts allowed (blender --enable-autoexec scene.blend).
Needs Python 3.11 or later. Tried with Debian's Blender 3.4; what Blender 4 calls otherwise is told apart by
its version, but was not tried."""

import argparse
import csv
import math
import pathlib
import re
import sys
import tomllib

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

try:
    import h5py
except ImportError:
    h5py = None

NUMPY_TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
               "float": "f4", "double": "f8"}
BROKEN = (OSError, ValueError, KeyError)  # what reading a damaged file may raise
# Wood, brick, ochre, moss, slate, clay: what the material moves
BODY_COLORS = [(0.58, 0.26, 0.08), (0.46, 0.09, 0.04), (0.69, 0.40, 0.05), (0.20, 0.29, 0.12),
               (0.11, 0.20, 0.30), (0.58, 0.37, 0.24)]


# ---- Files of a run

def read_ply(path):
    """The columns of the vertices by name, and the triangles (None where there are none), of the
    binary files that Barchan writes."""
    data = path.read_bytes()
    end = data.find(b"end_header\n")
    if end < 0:
        raise ValueError("the header has no end")
    columns, vertices, faces, element = [], 0, None, ""
    for line in data[:end].decode().splitlines():
        words = line.split()
        if words[0] == "element":
            element = words[1]
            if element == "vertex":
                vertices = int(words[2])
            elif element == "face":
                faces = int(words[2])
        elif words[0] == "property" and element == "vertex":
            columns.append((words[2], "<" + NUMPY_TYPES[words[1]]))
    at = end + len(b"end_header\n")
    rows = np.frombuffer(data, columns, vertices, at)
    if faces is None:
        return rows, None
    face = np.dtype([("count", "u1"), ("corners", "<u4", 3)])
    return rows, np.frombuffer(data, face, faces, at + rows.nbytes)["corners"]


def columns_of(rows, names):
    return np.stack([rows[name] for name in names], axis=1).astype(np.float32)


def read_objects(path):
    """Objects of an OBJ file of triangles: name -> (vertices, triangles)."""
    objects, before, name = {}, 0, None
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "o":
            before += len(objects[name][0]) if name else 0
            name = words[1]
            objects[name] = ([], [])
        elif words[0] == "v":
            objects[name][0].append(tuple(map(float, words[1:])))
        elif words[0] == "f":
            objects[name][1].append(tuple(int(word) - 1 - before for word in words[1:]))
    return objects


def read_poses(path):
    """name -> [(frame, position, orientation)] of bodies.csv."""
    poses = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            position = [float(row["position_" + a]) for a in "xyz"]
            orientation = [float(row["orientation_" + a]) for a in "wxyz"]
            poses.setdefault(row["name"], []).append((int(row["frame"]), position, orientation))
    return poses


def files_by_frame(folder, pattern):
    """frame -> file of those whose name has a number where the pattern has a group."""
    found = {}
    for path in folder.glob("*"):
        match = re.fullmatch(pattern, path.name)
        if match:
            found[int(match[1])] = path
    return found


def find_frames(run, points):
    """Where the frames are: (frame -> file, and what to do where there are none)."""
    if not points:
        return files_by_frame(run / "surface", r"surface_(\d+)\.ply"), f"barchan surface {run}"
    if h5py:
        return files_by_frame(run / "frames", r"frame_(\d+)\.h5"), "barchan run"
    return files_by_frame(run / "ply", r"frame_(\d+)\.ply"), f"barchan export {run} --to ply"


def read_frame(path):
    """Vertices, velocities, triangles and normals; the last two are None for particles."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            return file["position"][:], file["velocity"][:], None, None
    rows, triangles = read_ply(path)
    normals = columns_of(rows, ("nx", "ny", "nz")) if triangles is not None else None
    return columns_of(rows, "xyz"), columns_of(rows, ("vx", "vy", "vz")), triangles, normals


# ---- The animated object

def fill_mesh(mesh, vertices, velocities, triangles, normals):
    mesh.clear_geometry()
    mesh.vertices.add(len(vertices))
    mesh.vertices.foreach_set("co", vertices.ravel())
    if triangles is not None and len(triangles):
        mesh.loops.add(3 * len(triangles))
        mesh.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
        if bpy.app.version < (4, 0):
            mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, dtype=np.int32))
        mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), dtype=bool))
    # Cycles blurs by an attribute of this name [m/s]
    velocity = mesh.attributes.get("velocity") or mesh.attributes.new("velocity", "FLOAT_VECTOR", "POINT")
    velocity.data.foreach_set("vector", velocities.ravel())
    mesh.update(calc_edges=True)
    if normals is not None and len(normals):
        if bpy.app.version < (4, 1):
            mesh.use_auto_smooth = True  # or else normals of its own are not looked at
        mesh.normals_split_custom_set_from_vertices(normals)


def show_frame(scene, _=None):
    """Puts the current frame's mesh in place; where it is missing or broken, says so and shows
    nothing."""
    if "barchan_run" not in scene:
        return
    shown = bpy.data.objects[scene["barchan_object"]]
    frames, _ = find_frames(pathlib.Path(scene["barchan_run"]), scene["barchan_points"])
    known = [frame for frame in frames if frame <= scene.frame_current]
    empty = (np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), None, None)
    contents = empty
    try:
        if known:
            contents = read_frame(frames[max(known)])
    except BROKEN as error:
        print(f"{frames[max(known)]} is broken: {error}", file=sys.stderr)
    fill_mesh(shown.data, *contents)


def register():
    """Has Blender show each frame it comes to."""
    handlers = bpy.app.handlers.frame_change_pre
    for handler in [h for h in handlers if h.__name__ == show_frame.__name__]:
        handlers.remove(handler)
    handlers.append(bpy.app.handlers.persistent(show_frame))


def keep_script():
    """The script goes into the file that is saved, and runs when that is opened."""
    text = bpy.data.texts.new("barchan_import.py")
    text.from_string(pathlib.Path(__file__).read_text())
    text.use_module = True


# ---- How things look

def principled(name, **inputs):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    names = {"Transmission": "Transmission Weight"}  # since Blender 4
    for key, value in inputs.items():
        key = key.replace("_", " ")
        shader.inputs[key if key in shader.inputs else names[key]].default_value = value
    return material


def water_material(color):
    """Clear, and coloured by what it takes from light on its way."""
    material = principled("water", Base_Color=(1, 1, 1, 1), Roughness=0.0, IOR=1.333, Transmission=1.0)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    absorb = nodes.new("ShaderNodeVolumeAbsorption")
    absorb.inputs["Color"].default_value = (*(c ** 0.35 for c in color), 1)
    absorb.inputs["Density"].default_value = 2.5
    links.new(absorb.outputs[0], nodes["Material Output"].inputs["Volume"])
    # The sun goes straight through: paths that bend towards it are hardly ever found
    path, clear, either = (nodes.new("ShaderNode" + kind) for kind in ("LightPath", "BsdfTransparent", "MixShader"))
    links.new(path.outputs["Is Shadow Ray"], either.inputs["Fac"])
    links.new(nodes["Principled BSDF"].outputs[0], either.inputs[1])
    links.new(clear.outputs[0], either.inputs[2])
    links.new(either.outputs[0], nodes["Material Output"].inputs["Surface"])
    return material


def sand_material(color, grain):
    """Rough, in many shades, with bumps of about a grain [m]."""
    material = principled("sand", Roughness=0.95)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader, place = nodes["Principled BSDF"], nodes.new("ShaderNodeTexCoord")
    noise, shades = nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeValToRGB")
    bump = nodes.new("ShaderNodeBump")
    noise.inputs["Scale"].default_value = 1.0 / grain
    noise.inputs["Detail"].default_value = 8.0
    for element, shade in zip(shades.color_ramp.elements, (0.45, 1.15)):
        element.color = (*(min(1.0, shade * c) for c in color), 1)
    bump.inputs["Strength"].default_value = 0.6
    bump.inputs["Distance"].default_value = 0.5 * grain
    links.new(place.outputs["Object"], noise.inputs["Vector"])
    links.new(noise.outputs["Fac"], shades.inputs["Fac"])
    links.new(shades.outputs["Color"], shader.inputs["Base Color"])
    links.new(noise.outputs["Fac"], bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    return material


def points_as_spheres(shown, radius, material):
    """Geometry nodes that make a sphere of each vertex."""
    group = bpy.data.node_groups.new("particles", "GeometryNodeTree")
    if bpy.app.version < (4, 0):
        group.inputs.new("NodeSocketGeometry", "Geometry")
        group.outputs.new("NodeSocketGeometry", "Geometry")
    else:
        for way in ("INPUT", "OUTPUT"):
            group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    points, paint = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeSetMaterial")
    points.inputs["Radius"].default_value = radius
    paint.inputs["Material"].default_value = material
    links.new(start.outputs[0], points.inputs["Mesh"])
    links.new(points.outputs[0], paint.inputs["Geometry"])
    links.new(paint.outputs[0], end.inputs[0])
    shown.modifiers.new("particles", "NODES").node_group = group


# ---- The scene

def add_object(name, data, parent):
    added = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(added)
    added.parent = parent
    return added


def add_material_object(run, description, points, root):
    """The surface or the particles."""
    first = next(iter(description["material"].values()))
    if points:
        look = principled("particles", Base_Color=(*first["color"], 1), Roughness=0.4)
    elif first["friction_angle"] > 0:
        look = sand_material(first["color"], 0.5 * description["resolution"])
    else:
        look = water_material(first["color"])
    shown = add_object("particles" if points else "surface", bpy.data.meshes.new("frame"), root)
    shown.data.materials.append(look)
    if points:
        points_as_spheres(shown, 0.5 * description["resolution"], look)
    scene = bpy.context.scene
    scene["barchan_run"] = str(run.resolve())
    scene["barchan_points"] = points
    scene["barchan_object"] = shown.name
    return shown


def outline(added, thickness):
    """Of a container only its edges are drawn."""
    shape = bmesh.new()
    shape.from_mesh(added.data)
    bmesh.ops.dissolve_limit(shape, angle_limit=math.radians(1), verts=shape.verts, edges=shape.edges)
    shape.to_mesh(added.data)
    shape.free()
    frame = added.modifiers.new("outline", "WIREFRAME")
    frame.thickness = thickness


def add_solids(run, description, root):
    path = run / "surface" / "solids.obj"
    if not path.exists():
        print(f"{path} is not there, so the solids are left out; run: barchan surface {run}", file=sys.stderr)
        return
    poses, moved = read_poses(run / "bodies.csv"), 0
    solids = {solid["name"]: solid for solid in description.get("solid", [])}
    size = max(extent_of(run, description)[1])
    for name, (vertices, triangles) in read_objects(path).items():
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices, [], triangles)
        mesh.polygons.foreach_set("use_smooth", [True] * len(triangles))
        if bpy.app.version < (4, 1):
            mesh.use_auto_smooth = True  # edges beyond 30 degrees stay sharp
        else:
            mesh.set_sharp_from_angle(angle=math.radians(30))
        added = add_object(name, mesh, root)
        still = solids[name]["motion"] == "static"
        color = (0.48, 0.45, 0.40) if still else BODY_COLORS[moved % len(BODY_COLORS)]
        moved += 0 if still else 1
        mesh.materials.append(principled(name, Base_Color=(*color, 1), Roughness=0.6))
        if solids[name]["inside_out"]:
            outline(added, 0.004 * size)
        added.rotation_mode = "QUATERNION"
        for frame, position, orientation in poses.get(name, []):
            added.location, added.rotation_quaternion = position, orientation
            if still:
                break
            added.keyframe_insert("location", frame=frame)
            added.keyframe_insert("rotation_quaternion", frame=frame)
        for curve in added.animation_data.action.fcurves if added.animation_data else []:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"


def extent_of(run, description):
    """Middle and size of the containers, or of the particles that are there to be seen [m]."""
    path, corners = run / "surface" / "solids.obj", []
    objects = read_objects(path) if path.exists() else {}
    for solid in description.get("solid", []):
        if solid["inside_out"] and solid["name"] in objects:
            corners += objects[solid["name"]][0]
    if not corners:
        frames, _ = find_frames(run, False)
        frames = frames or find_frames(run, True)[0]
        corners = read_frame(frames[max(frames)])[0]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return Vector(0.5 * (low + high)), Vector(high - low)


def add_camera(run, description, root):
    wanted = description["camera"]
    middle, size = extent_of(run, description)
    up = "Z" if description["up"] == "z" else "Y"
    data = bpy.data.cameras.new("camera")
    data.sensor_fit = "VERTICAL"
    data.angle = math.radians(wanted["fov"])
    data.clip_start, data.clip_end = 0.001 * size.length, 1000.0 * size.length
    camera = add_object("camera", data, root)
    target = Vector(wanted["target"]) if "target" in wanted else middle
    if "position" in wanted:
        eye = Vector(wanted["position"])
    else:
        side = Vector((0.45, -0.8, 0.4) if up == "Z" else (0.45, 0.4, 0.8)).normalized()
        eye = target + side * (0.6 * size.length / math.tan(0.5 * data.angle))
    forward = (target - eye).normalized()
    right = forward.cross(Vector((0, 0, 1) if up == "Z" else (0, 1, 0))).normalized()
    axes = Matrix((right, right.cross(forward), -forward)).transposed()
    camera.matrix_local = Matrix.Translation(eye) @ axes.to_4x4()
    bpy.context.scene.camera = camera
    return middle, size


def add_light_and_ground(root, middle, size, z_up):
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = 3.5, math.radians(3)
    add_object("sun", sun, None).rotation_euler = (math.radians(48), 0, math.radians(60))
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.45, 0.62, 0.9, 1)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.45
    bpy.context.scene.world = world
    # Just below the lowest thing, so that both do not fight for the same place
    axis = 2 if z_up else 1
    floor = middle.copy()
    floor[axis] -= 0.502 * size[axis]
    mesh = bpy.data.meshes.new("ground")
    wide = 40.0 * size.length
    corners = [(-wide, -wide, 0), (wide, -wide, 0), (wide, wide, 0), (-wide, wide, 0)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    mesh.materials.append(principled("ground", Base_Color=(0.34, 0.33, 0.31, 1), Roughness=0.9))
    ground = add_object("ground", mesh, root)
    ground.location = floor
    ground.rotation_euler = (0, 0, 0) if z_up else (math.radians(-90), 0, 0)


def set_up_rendering(scene, width, height, samples):
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = has_denoiser(scene)
    scene.cycles.sample_clamp_indirect = 3.0  # the sun through waves: few, very bright paths
    scene.cycles.max_bounces = 16
    scene.cycles.transmission_bounces = 12
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.use_lock_interface = True  # meshes change while it renders
    scene.view_settings.view_transform = "Standard"


def has_denoiser(scene):
    """Not every build of Blender has Intel's library."""
    try:
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
    except TypeError:
        return False
    return True


def load_run(options):
    run = options.folder
    scene_file = run / "scene.toml"
    if not scene_file.exists():
        sys.exit(f"{run} is not the folder of a run: it has no scene.toml")
    description = tomllib.loads(scene_file.read_text())
    frames, remedy = find_frames(run, options.points)
    if not frames:
        sys.exit(f"{run} has no {'particles' if options.points else 'surfaces'} to show; run: {remedy}")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = max(1, round(description["fps"]))
    scene.render.fps_base = scene.render.fps / description["fps"]
    scene.frame_start, scene.frame_end = min(frames), max(frames)

    # Blender's z is up; most scenes' y is
    z_up = description["up"] == "z"
    root = add_object("barchan", None, None)
    root.rotation_euler = (0, 0, 0) if z_up else (math.radians(90), 0, 0)
    add_material_object(run, description, options.points, root)
    add_solids(run, description, root)
    middle, size = add_camera(run, description, root)
    add_light_and_ground(root, middle, size, z_up)
    set_up_rendering(scene, *options.size, options.samples)
    register()
    frame = options.frame if options.frame is not None else (min(frames) + max(frames)) // 2
    if frame not in frames:
        sys.exit(f"--frame {frame} is not there; there are {min(frames)} to {max(frames)}")
    try:
        read_frame(frames[frame])
    except BROKEN as error:
        sys.exit(f"{frames[frame]} is broken: {error}")
    scene.frame_set(frame)


def parse_size(text):
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT, for example 960x540")
    return int(match[1]), int(match[2])


def main():
    own = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    parser = argparse.ArgumentParser(prog="blender_import.py", description="Loads a run of Barchan.")
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path, help="the run folder")
    parser.add_argument("--frame", type=int, help="to show and to render; the middle one by default")
    parser.add_argument("--points", action="store_true", help="particles instead of the surface")
    parser.add_argument("--size", type=parse_size, default=(960, 540), help="of the picture, WxH")
    parser.add_argument("--samples", type=int, default=64, help="a pixel")
    parser.add_argument("--out", type=pathlib.Path, help="picture to render")
    parser.add_argument("--save", type=pathlib.Path, help=".blend file to keep")
    options = parser.parse_args(own)
    load_run(options)
    if options.save:
        keep_script()
        bpy.ops.wm.save_as_mainfile(filepath=str(options.save.resolve()))
    if options.out:
        bpy.context.scene.render.filepath = str(options.out.resolve())
        bpy.ops.render.render(write_still=True)


if pathlib.Path(__file__).is_file():
    main()
else:
    register()  # from within a saved file
