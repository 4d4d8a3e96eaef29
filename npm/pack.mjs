// Packs the npm packages of a release: frontdesk, which has the launcher, one with the program for each platform, and the client.
//   node npm/pack.mjs artefacts/release artefacts/npm
// The first folder is goreleaser's; the tarballs go into the second one, which is emptied first.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.umask(0o022); // the packages are the same whatever the umask here
const [release, out] = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const { version } = read(join(release, "metadata.json"));
const main = read(join(root, "npm/package.json"));
const forge = process.env.GITHUB_REPOSITORY; // npm lets a workflow publish only what names its repository
if (forge) main.repository = { type: "git", url: `git+https://github.com/${forge}.git` };
const stage = mkdtempSync(join(tmpdir(), "frontdesk-npm-"));
const folders = [];

// add creates a package's folder with its description and files: where each goes, and where it comes from.
function add(description, files) {
  const folder = join(stage, description.name.replace("/", "-"));
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...description, version }, null, 2) + "\n");
  for (const [to, from] of Object.entries({ ...files, LICENSE: join(root, "LICENSE") })) {
    cpSync(from, join(folder, to));
    chmodSync(join(folder, to), to.startsWith("bin/") ? 0o755 : 0o644);
  }
  folders.push(folder);
}

const npmNames = { windows: "win32", amd64: "x64" }; // of what Go and npm call differently
for (const { goos, goarch, path } of read(join(release, "artifacts.json")).filter(({ type }) => type === "Binary")) {
  const [os, cpu] = [npmNames[goos] ?? goos, npmNames[goarch] ?? goarch];
  add(
    {
      name: `@frontdesk/cli-${os}-${cpu}`, description: `The program of the package frontdesk, for ${os} on ${cpu}.`,
      license: main.license, repository: main.repository, os: [os], cpu: [cpu], files: ["bin"], preferUnplugged: true,
    },
    { [`bin/frontdesk${goos === "windows" ? ".exe" : ""}`]: join(root, path) },
  );
}
for (const name of Object.keys(main.optionalDependencies)) main.optionalDependencies[name] = version;
add(main, { "frontdesk.js": join(root, "npm/frontdesk.js"), "README.md": join(root, "npm/README.md") });

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", out, ...folders], { stdio: "inherit" });
rmSync(stage, { recursive: true });
execFileSync("node", [join(root, "client/pack.mjs"), version, out], { stdio: "inherit" });
