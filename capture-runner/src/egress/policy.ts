import type { EgressRules } from '@tintype/crds/addresses/address-rules'

/** Another proxy between the guard and the internet. */
export interface ParentProxy {
  /** `http://[user:password@]host:port`, `https://…` or, of a user, `socks5://…`; percent-encoded user and password. */
  url: string
  /** Names, `*.suffix` or ranges that the guard dials itself. Names on `rules.allowedHosts` are always dialled: a parent outside the cluster cannot reach them. */
  direct: readonly string[]
  /** `operator`: its address is trusted, being part of the installation. `user`: it must pass the rules like any other address. */
  chosenBy: 'operator' | 'user'
  /** The operator's own proxy, which a user's is reached through. */
  via?: ParentProxy
}

/** What one capture may reach, fixed when the capture is claimed. */
export interface EgressPolicy {
  rules: EgressRules
  /** Bytes received and sent together, as they cross the wire, after which the capture has no network left. */
  maxBytes: number
  parentProxy?: ParentProxy
}
