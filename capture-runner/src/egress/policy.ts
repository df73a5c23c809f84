import type { EgressRules } from '@tintype/crds/addresses/address-rules'

/** Another proxy between the guard and the internet. */
export interface ParentProxy {
  /** `http://[user:password@]host:port`, `https://…`, or for a user's proxy `socks5://…`; user and password percent-encoded. */
  url: string
  /** Names, `*.suffix` or CIDRs that bypass this proxy. Names in `rules.allowedHosts` always do: an outside proxy cannot reach them. */
  direct: readonly string[]
  /** `operator`: part of the installation, so its address is trusted. `user`: its address must pass the rules. */
  chosenBy: 'operator' | 'user'
  /** The operator's proxy, through which a user's proxy is reached. */
  via?: ParentProxy
}

/** What one capture may reach. Set when the runner claims the capture. */
export interface EgressPolicy {
  rules: EgressRules
  /** Limit of bytes received and sent together, as counted on the wire. After it, the capture has no network. */
  maxBytes: number
  parentProxy?: ParentProxy
}
