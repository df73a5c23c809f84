import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { createReceiverCertificate } from '../../support/servers/https-receiver.ts'
import type { Arrival } from './receiver.ts'

/** A process that receives posts. */
export interface Target {
  url: string
  /** Certificate of the authority that signed its certificate. */
  ca: string
  /** Arrivals since the previous call. */
  take: () => Promise<{ arrivals: Arrival[]; connections: number }>
  end: () => void
}

/** Calls `act` with a function that starts receivers, and removes their certificate files afterwards. */
export async function withTargets<T>(act: (start: () => Promise<Target>) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-bench-'))
  try {
    const { certificate, key } = await createReceiverCertificate(directory)
    const ca = await readFile(certificatePaths(directory, 'ca').certificate, 'utf8')
    return await act(() => startTarget(ca, [certificate, key]))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function startTarget(ca: string, files: string[]): Promise<Target> {
  const receiver = fork(join(import.meta.dirname, 'receiver.ts'), files)
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const take: Target['take'] = async () => {
    receiver.send('take')
    return (await once(receiver, 'message'))[0]
  }
  return { url: `https://127.0.0.1:${port}`, ca, take, end: () => receiver.disconnect() }
}
