import { kubectl, kubectlJson } from '../support/cluster/environment.ts'

/** Memory of one container. */
export interface MemoryUse {
  pod: string
  component: string
  /** Minutes since its process started. */
  minutes: number
  /** Resident memory including file pages, as in `ps`. */
  residentMebibytes: number
  /** Memory that the kernel charges to the container, including its page cache. */
  chargedMebibytes: number
}

/** The path of the charge differs between cgroup v2 and v1. */
const SCRIPT = 'cat /proc/1/status; cd /sys/fs/cgroup; echo charged: $(cat memory.current memory/memory.usage_in_bytes 2>/dev/null)'
const COMPONENTS = ['operator', 'api-gateway']

interface Pod {
  metadata: { name: string; labels?: Record<string, string> }
  status: { phase: string; containerStatuses?: { state: { running?: { startedAt: string } } }[] }
}

/** Reads the memory of operators and gateways from /proc and the cgroup of each container. */
export async function measureMemory(now = Date.now()): Promise<MemoryUse[]> {
  const { items } = await kubectlJson<{ items: Pod[] }>(['get', 'pods', '-l', `app.kubernetes.io/component in (${COMPONENTS})`])
  const running = items.filter(({ status }) => status.phase === 'Running')
  return Promise.all(
    running.map(async ({ metadata, status }) => {
      const { stdout } = await kubectl(['exec', metadata.name, '--', 'sh', '-c', SCRIPT])
      const startedAt = status.containerStatuses?.[0]?.state.running?.startedAt ?? ''
      return {
        pod: metadata.name,
        component: metadata.labels?.['app.kubernetes.io/component'] ?? '',
        minutes: (now - Date.parse(startedAt)) / 60_000,
        ...parseUse(stdout),
      }
    }),
  )
}

/** Reads `VmRSS:  1234 kB` and `charged: 5678`. */
export function parseUse(text: string): Pick<MemoryUse, 'residentMebibytes' | 'chargedMebibytes'> {
  const [, kibibytes = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(text) ?? []
  const [, bytes = 'NaN'] = /^charged: (\d+)$/m.exec(text) ?? []
  return { residentMebibytes: Number(kibibytes) / 1024, chargedMebibytes: Number(bytes) / 2 ** 20 }
}
