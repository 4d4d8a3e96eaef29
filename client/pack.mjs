// Packs the client for npm: node client/pack.mjs VERSION FOLDER writes FOLDER/frontdesk-client-VERSION.tgz. The package has the
// sources as they are, and their declarations.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [version, folder] = process.argv.slice(2);
const forge = process.env.GITHUB_REPOSITORY; // npm lets a workflow publish only what names its repository
const repository = forge && { repository: { type: "git", url: `git+https://github.com/${forge}.git` } };
const root = resolve(import.meta.dirname, "..");
const built = mkdtempSync(join(tmpdir(), "frontdesk-client-"));
const options = { cwd: built, stdio: ["ignore", "inherit", "inherit"] };
try {
  cpSync(join(root, "client"), built, { recursive: true, filter: (path) => !/\/(pack|record)\.mjs$/.test(path) });
  cpSync(join(root, "LICENSE"), join(built, "LICENSE"));
  const packages = join(root, "e2e", "web", "node_modules");
  symlinkSync(packages, join(built, "node_modules"));
  execFileSync("node", [join(packages, "typescript", "bin", "tsc"), "-p", ".", "--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--paths", "null"], options);
  rmSync(join(built, "tsconfig.json"));
  rmSync(join(built, "node_modules"));
  const about = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
  writeFileSync(join(built, "package.json"), JSON.stringify({ ...about, version, ...repository }, null, 2));
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(folder)], options);
} finally {
  rmSync(built, { recursive: true });
}
