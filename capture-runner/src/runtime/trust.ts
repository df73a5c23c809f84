import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

// Authorities that the browser trusts besides its own list (RunnerPool.spec.egress.extraCaBundle). On Linux Chromium takes them from the NSS
// database in its user's home; the jail gets a copy (jail/hold.sh).

const run = promisify(execFile)

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a bundle, PEM; text between them is skipped. */
export const certificatesOf = (bundle: string): string[] => bundle.match(CERTIFICATE) ?? []

/** Trusted to vouch for servers; for neither mail nor programs. */
const TRUSTED_FOR_SERVERS = 'C,,'

/**
 * Makes the database in `home`, before a browser starts.
 * @param bundle certificates, PEM; text between them is skipped
 * @throws when one of them is none, or there is none
 */
export async function trustAuthorities(bundle: string, home: string): Promise<void> {
  const certificates = certificatesOf(bundle)
  if (certificates.length === 0) throw new Error('spec.egress.extraCaBundle holds no PEM certificate')
  const directory = path.join(home, '.pki/nssdb')
  await mkdir(directory, { recursive: true })
  const database = ['-d', `sql:${directory}`]
  await run('certutil', [...database, '-N', '--empty-password'])
  for (const [place, certificate] of certificates.entries()) {
    const added = run('certutil', [...database, '-A', '-a', '-n', `pool-${place}`, '-t', TRUSTED_FOR_SERVERS])
    added.child.stdin?.end(certificate)
    await added.catch((cause: unknown) => {
      throw new Error(`spec.egress.extraCaBundle: certificate ${place + 1} cannot be read`, { cause })
    })
  }
}
