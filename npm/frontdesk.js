#!/usr/bin/env node
// Runs the program of this computer's package, with the same arguments, and ends as it does. npm installs only
// the package whose "os" and "cpu" match; nothing is downloaded otherwise.
const { spawn } = require("node:child_process");
const { optionalDependencies } = require("./package.json");

const name = `@frontdesk/cli-${process.platform}-${process.arch}`;

function program() {
  if (!(name in optionalDependencies)) {
    fail(`there is no package for ${process.platform} on ${process.arch}. Build it from source, or run its image.`);
  }
  try {
    return require.resolve(`${name}/bin/frontdesk${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(`the package ${name} is missing. Install frontdesk again on this computer, with optional dependencies (without --omit=optional).`);
  }
}

function fail(reason) {
  console.error(`frontdesk: ${reason}`);
  process.exit(1);
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(error.message));
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
