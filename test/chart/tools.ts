/**
 * External checkers of the chart: kubeconform and kube-score from Go modules, checkov from PyPI, promtool from Debian's Prometheus package.
 * Each is built once and cached under a digest of its inputs.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { fillOnce } from '../cluster/host/fill-once.ts'
import { programsDirectory } from '../cluster/host/state.ts'
import { type Report, type Step, StepError } from '../cluster/host/steps.ts'
import { digestOf, followBuild } from '../cluster/programs/programs.ts'
import { ensurePythonTools, locatePythonTools } from '../fuzz/python-tools.ts'

const moduleDirectory = path.join(import.meta.dirname, 'go')
const requirements = path.join(import.meta.dirname, 'requirements.txt')
const modules = ['github.com/yannh/kubeconform/cmd/kubeconform', 'github.com/zegl/kube-score/cmd/kube-score']
const buildEnvironment = { CGO_ENABLED: '0', GOFLAGS: '-trimpath -buildvcs=false' }

/** Paths of the programs. */
export interface ChartTools {
  kubeconform: string
  kubeScore: string
  checkov: string
  promtool: string
}

/** Paths of the programs, even before they are built. */
export async function locateChartTools(): Promise<ChartTools> {
  const built = await locateBuilt()
  return {
    kubeconform: path.join(built, 'kubeconform'),
    kubeScore: path.join(built, 'kube-score'),
    checkov: path.join(await locatePythonTools(requirements), 'checkov'),
    promtool: path.join(promtoolDirectory, 'promtool'),
  }
}

/** Builds and installs the programs that are missing. Resolves to their paths. */
export async function ensureChartTools(): Promise<ChartTools> {
  for (const { run: ensure } of chartToolSteps) await ensure(() => {})
  return locateChartTools()
}

/** Steps that build or install them. */
export const chartToolSteps: Step[] = [
  { name: 'kubeconform and kube-score', run: buildCheckers },
  { name: 'checkov', run: () => ensurePythonTools(requirements) },
  { name: 'promtool', run: unpackPromtool },
]

const promtoolDirectory = path.join(programsDirectory, 'promtool')

async function locateBuilt(): Promise<string> {
  const sources = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(path.join(moduleDirectory, file), 'utf8')))
  return path.join(programsDirectory, `checkers-${digestOf(sources)}`)
}

async function buildCheckers(report: Report): Promise<string> {
  try {
    const isNew = await fillOnce(await locateBuilt(), async (draft) => {
      const args = ['go', 'build', '-v', '-ldflags', '-s -w', '-o', `${draft}/`, ...modules]
      await run('nice', args, { directory: moduleDirectory, environment: buildEnvironment, onLine: followBuild(report) })
    })
    return isNew ? 'built' : 'already built'
  } catch (cause) {
    throw new StepError('the checkers could not be built', { remedy: 'make sure that Go reaches a module proxy (go env GOPROXY)', cause })
  }
}

/** Unpacks the package instead of installing it, because only one program is needed and no service must start. */
async function unpackPromtool(): Promise<string> {
  try {
    const isNew = await fillOnce(promtoolDirectory, async (draft) => {
      await run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', 'prometheus'], { directory: draft })
      await run(
        'sh',
        ['-c', 'dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --strip-components=3 ./usr/bin/promtool && rm prometheus_*.deb'],
        {
          directory: draft,
        },
      )
    })
    return isNew ? 'unpacked' : 'already there'
  } catch (cause) {
    throw new StepError('promtool could not be downloaded', { remedy: 'see that this works: apt-get download prometheus', cause })
  }
}
