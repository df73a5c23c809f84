import { chartToolSteps } from './chart/tools.ts'
import { ensureRuntimes } from './clients/runtimes.ts'
import { runBesideOthers, runCommand } from './cluster/host/command.ts'
import { testPackages } from './cluster/host/packages.ts'
import { formatFailure, runSteps, type Step, StepError } from './cluster/host/steps.ts'
import { buildUpstreamMinio } from './cluster/programs/programs.ts'
import { built, toolSteps } from './cluster/up.ts'
import { ensurePythonTools } from './fuzz/python-tools.ts'
import { valeStep } from './prose/vale.ts'
import { toolStep } from './release/tools.ts'

// Builds once what tests without a cluster need. `--product` builds only what the product itself needs: Debian packages, the Kubernetes programs and
// MinIO. `--tools` builds the rest, which few tests need, while other commands run. A failed tool does not prevent the next one.

/** The quickest first. MinIO without patches is a control: attacks on the store succeed on it. */
const tools: Step[] = [
  { name: 'Deno, Bun and Node.js 20', run: () => ensureRuntimes().then(() => 'installed') },
  { name: 'Python tools', run: () => ensurePythonTools() },
  toolStep('actionlint'),
  ...chartToolSteps,
  { name: 'MinIO without patches', run: (report) => built(buildUpstreamMinio(report)) },
  valeStep,
  toolStep('kube-router'),
  toolStep('starlark'),
]

const failures: unknown[] = []
const tolerant = (step: Step): Step => ({
  ...step,
  run: (report) =>
    step.run(report).catch((error: unknown) => {
      failures.push(error)
      return 'failed'
    }),
})

async function buildTools(): Promise<void> {
  await runSteps(tools.map(tolerant))
  for (const failure of failures) console.error(formatFailure(failure))
  if (failures.length > 0) throw new StepError('not every tool could be built', { remedy: 'read the messages above' })
}

const buildProduct = (): Promise<void> => runSteps(toolSteps(testPackages))
const [only] = process.argv.slice(2)
if (only === '--tools') await runBesideOthers(buildTools)
else await runCommand(() => (only === '--product' ? buildProduct() : buildProduct().then(buildTools)))
