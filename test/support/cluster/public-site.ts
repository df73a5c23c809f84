import type { Test } from 'tap'
import { createDirectory } from '../directory.ts'
import { createReceiverCertificate } from '../servers/https-receiver.ts'
import type { PublicSite } from '../servers/public-site-program.ts'
import { startInCluster } from './program.ts'

/** Serves the pages of test/sites on a public address until the test ends. Resolves to the certificate of its authority, PEM. */
export async function startPublicSite(t: Test, address: string): Promise<string> {
  const { certificate, key, ca } = await createReceiverCertificate(await createDirectory(t, 'public'), [`IP:${address}`])
  await startInCluster(t, 'servers/public-site-program.ts', { address, certificate, key } satisfies PublicSite)
  return ca
}
