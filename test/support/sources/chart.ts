import { existsSync } from 'node:fs'
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../../cluster/host/exec.ts'
import { repository } from '../../cluster/host/state.ts'
import { locatePrograms } from '../../cluster/programs/programs.ts'

/** Directory of the chart. */
export const chartDirectory = path.join(repository, 'charts/tintype')

/** Common fields of all objects of a rendered chart. */
export interface Rendered {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
}

/** Runs the helm that `node test/prepare.ts` builds. @throws CommandError with its output */
export async function helm(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const program = path.join((await locatePrograms()).kubernetes, 'helm')
  if (!existsSync(program)) throw new Error('helm is not built yet: run `node test/prepare.ts` first')
  return run(program, args, { environment })
}

/** The chart's objects, including hooks, with `settings` as in `--set-json`. */
export async function renderChart(
  settings: Record<string, unknown> = {},
  more: readonly string[] = [],
  directory = chartDirectory,
): Promise<Rendered[]> {
  const values = Object.entries({ 'image.registry': 'registry.example/tintype', ...settings })
  const options = values.flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  const text = await helm(['template', 'tintype', directory, '--namespace', 'tintype', ...options, ...more])
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Rendered | null) ?? [])
}

/** The chart's notes for `settings`, which `helm template` leaves out. */
export async function renderNotes(settings: Record<string, unknown> = {}): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-notes-'))
  try {
    await cp(chartDirectory, directory, { recursive: true })
    await rename(path.join(directory, 'templates/NOTES.txt'), path.join(directory, 'files/notes.txt'))
    const template = 'apiVersion: v1\nkind: Notes\nmetadata: { name: notes }\ntext: {{ tpl (.Files.Get "files/notes.txt") . | toJson }}\n'
    await writeFile(path.join(directory, 'templates/notes.yaml'), template)
    return find<{ text: string }>(await renderChart(settings, ['--show-only', 'templates/notes.yaml'], directory), 'Notes', 'notes').text
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** One object of a rendered chart. @throws when it does not exist */
export function find<T = unknown>(objects: readonly Rendered[], kind: string, name: string): Rendered & T {
  const object = objects.find((candidate) => candidate.kind === kind && candidate.metadata.name === name)
  if (!object) throw new Error(`the chart has no ${kind} ${name}`)
  return object as Rendered & T
}

/** The pod template of an object. */
export interface PodSpec {
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  serviceAccountName?: string
  priorityClassName?: string
  nodeSelector?: Record<string, string>
  securityContext?: Record<string, unknown>
  initContainers?: Container[]
  containers: Container[]
  volumes?: Record<string, unknown>[]
}

/** One container of a {@link PodSpec}. */
export interface Container {
  args?: string[]
  name: string
  image: string
  env?: { name: string; value?: string; valueFrom?: object }[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown>
}

/** The pod templates of all objects, with the names of the objects. */
export function podsOf(objects: readonly Rendered[]): { name: string; spec: PodSpec }[] {
  return objects.flatMap((object) => {
    const { spec } = object as { spec?: PodSpec & { template?: { spec: PodSpec } } }
    const pod = object.kind === 'Pod' ? spec : spec?.template?.spec
    return pod ? [{ name: `${object.kind} ${object.metadata.name}`, spec: pod }] : []
  })
}
