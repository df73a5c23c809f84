import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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

/** What was rendered, by the arguments: a rendering takes a second of a processor, and many tests look at the same one. */
const renderings = new Map<string, Promise<Rendered[]>>()

/** The chart's objects, including hooks, with `settings` as in `--set-json`. */
export async function renderChart(
  settings: Record<string, unknown> = {},
  more: readonly string[] = [],
  directory = chartDirectory,
): Promise<Rendered[]> {
  const values = Object.entries({ 'image.registry': 'registry.example/tintype', ...settings })
  const options = values.flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  const args = ['template', 'tintype', directory, '--namespace', 'tintype', ...options, ...more]
  const key = JSON.stringify(args)
  const rendering =
    renderings.get(key) ??
    helm(args).then((text) => parseAllDocuments(text).flatMap((document) => (document.toJS() as Rendered | null) ?? []))
  renderings.set(key, rendering)
  return rendering
}

/** What helm prints when the chart rejects `settings`. */
export const refusal = (settings: Record<string, unknown>): Promise<string> =>
  renderChart(settings).then(
    () => 'rendered',
    (error: { output?: string }) => error.output ?? String(error),
  )

let chartWithNotes: string | undefined

/** The chart's objects and, as `Notes`, its notes for `settings`, which `helm template` leaves out. */
export async function renderWithNotes(settings: Record<string, unknown> = {}): Promise<{ objects: Rendered[]; notes: string }> {
  chartWithNotes ??= copyWithNotes()
  const objects = await renderChart(settings, [], chartWithNotes)
  return { objects, notes: find<{ text: string }>(objects, 'Notes', 'notes').text }
}

/** A copy of the chart that has its notes as an object. It is removed with this process. */
function copyWithNotes(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-notes-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  cpSync(chartDirectory, directory, { recursive: true })
  renameSync(path.join(directory, 'templates/NOTES.txt'), path.join(directory, 'files/notes.txt'))
  const template = 'apiVersion: v1\nkind: Notes\nmetadata: { name: notes }\ntext: {{ tpl (.Files.Get "files/notes.txt") . | toJson }}\n'
  writeFileSync(path.join(directory, 'templates/notes.yaml'), template)
  return directory
}

/** The chart's notes for `settings`. */
export const renderNotes = async (settings: Record<string, unknown> = {}): Promise<string> => (await renderWithNotes(settings)).notes

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

/** The environment of the first container of a pod, by name. Values from elsewhere are undefined. */
export function environmentOf(objects: readonly Rendered[], pod: string): Record<string, string | undefined> {
  const variables = podsOf(objects).find(({ name }) => name === pod)?.spec.containers[0]?.env ?? []
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]))
}
