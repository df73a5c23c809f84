import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { getCACertificates } from 'node:tls'

/** Certificates that vouch for receivers: the system's, and those of a file in PEM. @throws when the file cannot be read */
export function loadCertificates(extraFile: string | undefined): string[] {
  const own = getCACertificates('default')
  return extraFile === undefined ? own : [...own, readFileSync(extraFile, 'utf8')]
}

/** The addresses of this pod, loopback included. */
export const listOwnAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address.replace(/%.*$/, '')))
