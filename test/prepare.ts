import { chartToolSteps } from './chart/tools.ts'
import { ensureRuntimes } from './clients/runtimes.ts'
import { runCommand } from './cluster/host/command.ts'
import { testPackages } from './cluster/host/packages.ts'
import { runSteps } from './cluster/host/steps.ts'
import { buildUpstreamMinio } from './cluster/programs/programs.ts'
import { built, toolSteps } from './cluster/up.ts'
import { ensurePythonTools } from './fuzz/python-tools.ts'
import { valeStep } from './prose/vale.ts'

// What tests without a cluster need: Debian's packages, the Kubernetes programs and MinIO, built once; MinIO without our patches, which
// attacks on the store still work on; programs from PyPI; other runtimes for the client; the checkers of the chart and of texts.
await runCommand(() =>
  runSteps([
    ...toolSteps(testPackages),
    { name: 'MinIO without patches', run: (report) => built(buildUpstreamMinio(report)) },
    { name: 'Python tools', run: () => ensurePythonTools() },
    { name: 'Deno, Bun and Node.js 20', run: () => ensureRuntimes().then(() => 'installed') },
    ...chartToolSteps,
    valeStep,
  ]),
)
