import { chartToolSteps } from './chart/tools.ts'
import { ensureRuntimes } from './clients/runtimes.ts'
import { runCommand } from './cluster/host/command.ts'
import { testPackages } from './cluster/host/packages.ts'
import { runSteps } from './cluster/host/steps.ts'
import { buildUpstreamMinio } from './cluster/programs/programs.ts'
import { built, toolSteps } from './cluster/up.ts'
import { ensurePythonTools } from './fuzz/python-tools.ts'
import { valeStep } from './prose/vale.ts'
import { toolStep } from './release/tools.ts'

// Builds once what tests without a cluster need: Debian packages, the Kubernetes programs and MinIO, MinIO without patches (on which
// attacks on the store still succeed), programs from PyPI, other JavaScript runtimes for the client, and the checkers of chart, workflow and texts.
await runCommand(() =>
  runSteps([
    ...toolSteps(testPackages),
    { name: 'MinIO without patches', run: (report) => built(buildUpstreamMinio(report)) },
    { name: 'Python tools', run: () => ensurePythonTools() },
    { name: 'Deno, Bun and Node.js 20', run: () => ensureRuntimes().then(() => 'installed') },
    ...chartToolSteps,
    toolStep('actionlint'),
    toolStep('kube-router'),
    valeStep,
  ]),
)
