import { kubectlJson, requireKubectl } from './environment.ts'

// Metrics of the programs on the cluster, read through the API server.

interface Pod {
  metadata: { name: string; namespace: string }
  status: { phase: string }
}

/** The metrics of all pods of a program, as text. */
export async function programMetrics(component: 'api-gateway' | 'operator'): Promise<string> {
  const { items } = await kubectlJson<{ items: Pod[] }>(['get', 'pods', '-l', `app.kubernetes.io/component=${component}`])
  const pathOf = ({ metadata: { name, namespace } }: Pod) => `/api/v1/namespaces/${namespace}/pods/${name}:9090/proxy/metrics`
  return (await Promise.all(items.map((pod) => requireKubectl(['get', '--raw', pathOf(pod)])))).join('\n')
}

/** The sum of all samples of a metric that have these labels. */
export function sumOf(metrics: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const samples = metrics.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  const selected = samples.filter((line) => wanted.every((label) => line.includes(label)))
  return selected.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
