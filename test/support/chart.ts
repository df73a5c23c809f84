import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../cluster/exec.ts'
import { locatePrograms } from '../cluster/programs.ts'
import { repository } from '../cluster/state.ts'

/** Directory of the chart. */
export const chartDirectory = path.join(repository, 'charts/tintype')

/** What is known of every object of a rendered chart. */
export interface Rendered {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
}

/** Runs helm, the one that the cluster's tests build. @throws CommandError with what it printed */
export async function helm(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { kubernetes } = await locatePrograms()
  return run(path.join(kubernetes, 'helm'), args, { environment })
}

/** The chart's objects, hooks included, with `settings` as in `--set-json`; by default all that is not required is as in values.yaml. */
export async function renderChart(settings: Record<string, unknown> = {}, more: readonly string[] = []): Promise<Rendered[]> {
  const values = Object.entries({ 'image.registry': 'registry.example/tintype', ...settings })
  const options = values.flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  const text = await helm(['template', 'tintype', chartDirectory, '--namespace', 'tintype', ...options, ...more])
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Rendered | null) ?? [])
}

/** One object of a rendered chart. @throws when it is not there */
export function find<T = unknown>(objects: readonly Rendered[], kind: string, name: string): Rendered & T {
  const object = objects.find((candidate) => candidate.kind === kind && candidate.metadata.name === name)
  if (!object) throw new Error(`the chart has no ${kind} ${name}`)
  return object as Rendered & T
}
