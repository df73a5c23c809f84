/**
 * Programs for releases and for their tests, built from Go modules in pinned versions: cosign, the registry of CNCF Distribution,
 * actionlint, kube-router, and an interpreter of Starlark.
 * `go install` builds each with the dependencies of its own go.mod, and Go's checksum database verifies them.
 */
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { fillOnce } from '../cluster/host/fill-once.ts'
import { programsDirectory } from '../cluster/host/state.ts'
import { type Report, type Step, StepError } from '../cluster/host/steps.ts'
import { buildEnvironment, followBuild } from '../cluster/programs/programs.ts'

const modules = {
  cosign: 'github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3',
  registry: 'github.com/distribution/distribution/v3/cmd/registry@v3.1.2',
  'kube-router': 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0',
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
  starlark: 'go.starlark.net/cmd/starlark@v0.0.0-20260908191801-89a6a09411d5',
} as const

/** A program of a release. */
export type ReleaseTool = keyof typeof modules

/** The path of a program, even before it is built. */
export function locateTool(tool: ReleaseTool): string {
  const version = modules[tool].split('@')[1]
  return path.join(programsDirectory, `${tool}-${version}`, tool)
}

/** The step that builds a program. */
export const toolStep = (tool: ReleaseTool): Step => ({ name: tool, run: (report) => ensureTool(tool, report) })

/** Builds a program unless it exists. Resolves to a short text on what was necessary. */
export async function ensureTool(tool: ReleaseTool, report: Report = () => {}): Promise<string> {
  try {
    const isNew = await fillOnce(path.dirname(locateTool(tool)), async (draft) => {
      const environment = { ...buildEnvironment, GOBIN: draft }
      await run('nice', ['go', 'install', '-v', '-ldflags', '-s -w', modules[tool]], { environment, onLine: followBuild(report) })
    })
    return isNew ? 'built' : 'already built'
  } catch (cause) {
    throw new StepError(`${tool} cannot be built`, { remedy: 'check that Go can reach a module proxy (go env GOPROXY)', cause })
  }
}
