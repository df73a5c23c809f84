import type { Log } from './log.ts'
import type { SpanExporter } from './span-exporter.ts'

export interface SpanSettings {
  /** Program, its version, and the pod. */
  service: { name: string; version: string; instance: string }
  /** URL of the collector; undefined: none is configured. */
  endpoint: string | undefined
  headers: Record<string, string>
  log: Log
}

/** Loads the exporter only if a collector is configured. */
export async function openSpans({ service, endpoint, headers, log }: SpanSettings): Promise<SpanExporter | undefined> {
  if (endpoint === undefined) return undefined
  const { SpanExporter: Exporter } = await import('./span-exporter.ts')
  const resource = { 'service.name': service.name, 'service.version': service.version, 'service.instance.id': service.instance }
  return new Exporter({ endpoint, headers, log, resource })
}
