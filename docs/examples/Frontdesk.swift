// Frontdesk for iOS 17.4 and later: models, client, keys that survive a crash, and a complete signup. Copy the file; it
// needs only the system's own frameworks.

import AuthenticationServices
import Combine
import Foundation
import Security

// MARK: - The API's types that a signup needs. Names and optionals are those of openapi.yaml.

struct Money: Codable { let amount: Int; let currency: String } // amount in cents

struct ClubList: Decodable { let items: [Club] }

struct Club: Decodable { let id, name: String; let address: PostalAddress? }

struct ClubDetails: Decodable { let id, name: String; let startDates: DateRange? }

struct PostalAddress: Decodable { let city: String; let street, postalCode: String? }

struct DateRange: Decodable { let earliest, latest: String } // in the club's time zone, not the phone's

struct ProductList: Decodable { let items: [Product]; let next: String? }

struct Product: Decodable { let id, name: String; let offers: [Offer]; let description: String? }

struct Offer: Decodable { // needs: startDate, debit and mandate; debitChoice says which day a debit can have
    let id, name, debitChoice: String
    let dueToday: DueToday
    let needs: [String]
    let highlight: Bool?
}

struct DueToday: Decodable { let price: Money }

struct DebitDayList: Decodable { let items: [DebitDay] }

struct DebitDay: Decodable { let day: Int; let date: String } // the next date with this day of the month

struct Address: Codable { let street, postalCode, city, country: String }

struct Person: Codable {
    let givenName, familyName, birthDate, email, mobile: String // birthDate as 1990-05-17, mobile as +33612345678
    let address: Address
    var guardian: Guardian?
}

struct Guardian: Codable { // concludes the contract of a minor; relation: parent or legal_guardian
    let givenName, familyName, relation, phone: String
    var email: String?
}

struct NewItem: Codable { let offerId: String; var startDate: String?; var debit: Debit? }

struct Debit: Codable { var day: Int?; var weekDay: Int? }

struct StartRegistration: Codable { let clubId: String; var person: Person?; var items: [NewItem]? }

struct NewMandate: Codable { let holder, iban: String }

struct Signature: Codable { let code: String }

struct StartCardPayment: Codable { var method = "card"; var cart: String?; var returnUrl: String?; var again: Bool?; var agreements: [Agreement]? }

struct Agreement: Codable { let document: String; let version: String; var sha256: String? }

struct DocumentList: Decodable { let items: [Document] }

struct Document: Decodable { let document, version, url, sha256: String }

struct Order: Decodable { let agreements: [Agreement]? }

struct Resumption: Codable { let resume: String }

struct ResumeLink: Decodable { let url, expiresAt: String }

struct ConsentList: Decodable { let items: [Consent] }

struct Consent: Decodable { // such as news by email; a locked one is mandatory information, and cannot be withdrawn
    let id, channel, type: String
    let authorized, locked: Bool
}

struct ConsentWish: Codable { let id: String; let authorized: Bool }

struct ChangeConsents: Codable { let items: [ConsentWish]; var wording: String? }

struct ConsentChanges: Decodable { let items: [ConsentChange] }

struct ConsentChange: Decodable { let id, code: String }

struct Registration: Decodable {
    let id: String
    let sequence: Int
    let token: String? // only of a start or a resumption
    let step: String // the screen to show; for one that you do not know, show the message and what can be done
    let final: Bool
    let message: Message
    let cart: Cart
    let order: Order?
    let mandate: Mandate?
    let payment: Payment?
    let next: [Action]

    /// Whether an action is possible now, and with which method. If not, hide its button.
    func can(_ action: String, _ method: String? = nil) -> Bool {
        next.contains { $0.action == action && (method == nil || $0.methods?.contains(method!) == true) }
    }
}

struct Message: Decodable { let code, text: String } // a Text of the contract; SwiftUI has that name, too

struct Cart: Decodable { let revision: String; let items: [CartItem]; let dueNow: Money; let valid: Bool; let problems: [Message] }

struct CartItem: Decodable { let name: String; let price: Money }

struct Action: Decodable { let action: String; let methods: [String]? }

struct Mandate: Decodable { let state, iban: String; let attemptsLeft, resendIn: Int? }

struct Payment: Decodable { let id, state: String; let total: Money; let card: CardDetails? }

struct CardDetails: Decodable { let redirectUrl, declineCode: String? }

struct FieldProblem: Decodable { let pointer: String?, text: String }

struct Problem: Decodable, Error {
    let code, then, title: String
    let detail, traceId: String?
    let errors: [FieldProblem]?
}

// MARK: - The client

struct Frontdesk {
    var base = URL(string: "http://localhost:8080")! // the simulator's localhost is the Mac's; allow local networking in Info.plist

    /// Sends a request, and repeats it while that is safe and may help. A text that Frontdesk did not send, such as a proxy's
    /// error page, counts as no response.
    func send<Answer: Decodable>(
        _ method: String, _ path: String, body: Data? = nil, key: String? = nil, token: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: URL(string: path, relativeTo: base)!, timeoutInterval: 40)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        // A read may always be repeated, and so may a POST with a key. A POST without a key is sent once.
        let repeatable = method != "POST" || key != nil
        for pause in [1, 2, 4, 0] {
            do {
                let (data, response) = try await URLSession.shared.data(for: request)
                let http = response as! HTTPURLResponse
                if (200..<300).contains(http.statusCode) { return try JSONDecoder().decode(Answer.self, from: data) }
                guard let problem = try? JSONDecoder().decode(Problem.self, from: data) else { throw URLError(.badServerResponse) }
                guard repeatable, pause > 0, problem.then == "send_again" else { throw problem }
                let wait = Int(http.value(forHTTPHeaderField: "Retry-After") ?? "") ?? pause
                guard wait <= 15 else { throw problem } // too long for a spinner: offer to try again later
                try await Task.sleep(for: .seconds(max(wait, pause)))
            } catch let lost as URLError where repeatable && pause > 0 {
                if lost.code == .cancelled { throw lost }
                try await Task.sleep(for: .seconds(pause)) // no response: send the same request with the same key
            }
        }
        throw URLError(.cannotConnectToHost)
    }

    func clubs() async throws -> [Club] {
        let list: ClubList = try await send("GET", "/v1/clubs")
        return list.items
    }

    /// The days of the month on which a club debits, for offers with the debitChoice month_day. Without a day, the club chooses.
    func debitDays(of club: String, from startDate: String) async throws -> [DebitDay] {
        let list: DebitDayList = try await send("GET", "/v1/clubs/\(club)/debit-days?startDate=\(startDate)")
        return list.items
    }

    func club(_ id: String) async throws -> ClubDetails { try await send("GET", "/v1/clubs/\(id)") }

    /// What a club's buyers agree to. Link each that the order names above its button; list them again after agreement_missing.
    func documents(of club: String) async throws -> [Document] {
        let list: DocumentList = try await send("GET", "/v1/clubs/\(club)/documents")
        return list.items
    }

    /// Returns all that a club sells, which takes a request for each page.
    func products(of club: String) async throws -> [Product] {
        var page: ProductList = try await send("GET", "/v1/clubs/\(club)/products")
        var all = page.items
        while let next = page.next {
            page = try await send("GET", "/v1/clubs/\(club)/products?cursor=\(next)")
            all += page.items
        }
        return all
    }

    /// Returns the registration at each change (server-sent events). The stream ends with the connection; read the
    /// registration again then.
    func follow(_ id: String, token: String) -> AsyncThrowingStream<Registration, Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                var request = URLRequest(url: URL(string: "/v1/registrations/\(id)/events", relativeTo: base)!)
                request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                do {
                    let (bytes, response) = try await URLSession.shared.bytes(for: request)
                    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
                    var event = "" // after "end" the gateway closes the stream
                    for try await line in bytes.lines {
                        if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
                        guard event == "registration", line.hasPrefix("data: ") else { continue }
                        continuation.yield(try JSONDecoder().decode(Registration.self, from: Data(line.dropFirst(6).utf8)))
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

// MARK: - Data that survives a crash, a reboot and an update: in the Keychain, on this device only

enum Vault {
    static func read<Value: Decodable>(_ name: String) -> Value? {
        var query = item(name)
        query[kSecReturnData] = true
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else { return nil }
        return try? JSONDecoder().decode(Value.self, from: data)
    }

    static func write<Value: Encodable>(_ value: Value?, _ name: String) throws {
        SecItemDelete(item(name) as CFDictionary)
        guard let value else { return }
        var added = item(name)
        added[kSecValueData] = try JSONEncoder().encode(value)
        added[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let status = SecItemAdd(added as CFDictionary, nil)
        guard status == errSecSuccess else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
    }

    private static func item(_ name: String) -> [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: "frontdesk", kSecAttrAccount: name]
    }
}

/// The registration and the token that proves it.
struct Session: Codable { let id, token: String }

/// An action of the buyer: a request with its key. It is stored before it is first sent, and deleted after a definitive
/// response. After a crash in between, the same request is sent again and carried out once.
struct Intention: Codable { let path: String; let body: Data?; let key: String }

// MARK: - The signup

/// The signup. The view that shows it has the modifier
/// .task(id: signup.registration?.id) { await signup.open(); await signup.followToTheEnd() }
@MainActor
final class Signup: NSObject, ObservableObject, ASWebAuthenticationPresentationContextProviding {
    @Published private(set) var registration: Registration?
    @Published private(set) var problem: Problem?
    @Published private(set) var consents: [Consent] = []

    private let api = Frontdesk()
    private var session: Session? { Vault.read("session") }
    private let returnHost = "signup.club.example" // a universal link of the app, and one of FRONTDESK_ALLOWED_ORIGINS
    private var page: ASWebAuthenticationSession? // while it is shown

    /// Continues where the app stopped.
    func open() async {
        await attempt {
            if let pending: Intention = Vault.read("intention") { try await self.carryOut(pending) }
            try await self.refresh()
        }
    }

    /// Creates the contact and the cart, adds the item and checks the cart, with one call.
    func start(club: String, item: NewItem, person: Person) async {
        await want("/v1/registrations", StartRegistration(clubId: club, person: person, items: [item]))
    }

    /// Names who concludes a minor's contract, at the step guardian. Sent twice, it has the same effect, so it needs no key.
    func setGuardian(_ guardian: Guardian) async {
        await attempt {
            guard let session = self.session else { return }
            let body = try JSONEncoder().encode(guardian)
            self.show(try await self.api.send("PUT", "/v1/registrations/\(session.id)/guardian", body: body, token: session.token))
        }
    }

    /// Direct debit. The code arrives by SMS; enter it in a field with .textContentType(.oneTimeCode).
    func giveMandate(holder: String, iban: String) async { await act("mandate", NewMandate(holder: holder, iban: iban)) }

    func sign(code: String) async { await act("mandate/signature", Signature(code: code)) }

    func resendCode() async { await act("mandate/signature/resend", nil as Signature?) }

    /// Resumes a registration from another device, by the link https://signup.club.example/?resume=…
    func resume(link: URL) async {
        let items = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems
        guard let resume = items?.first(where: { $0.name == "resume" })?.value else { return }
        await want("/v1/resumptions", Resumption(resume: resume))
    }

    /// Returns a link that continues on another device, once. Each one replaces the last, so it needs no stored intention.
    func resumeLink() async -> String? {
        var url: String?
        await attempt {
            guard let session = self.session else { return }
            let key = UUID().uuidString
            let link: ResumeLink = try await self.api.send(
                "POST", "/v1/registrations/\(session.id)/resume-link", key: key, token: session.token)
            url = link.url
        }
        return url
    }

    /// Reads what the club may send, while next has consents. Show each that is not locked as an option, never as a condition.
    func readConsents() async {
        await attempt { if let session = self.session { try await self.showConsents(of: session) } }
    }

    /// Gives or withdraws consents; wording is the app's name for the text that the buyer saw. What failed shows as it was.
    func setConsents(_ chosen: [ConsentWish], wording: String) async {
        await attempt {
            guard let session = self.session else { return }
            let body = try JSONEncoder().encode(ChangeConsents(items: chosen, wording: wording))
            let _: ConsentChanges = try await self.api.send(
                "PATCH", "/v1/registrations/\(session.id)/consents", body: body, token: session.token) // may be sent twice
            try await self.showConsents(of: session)
        }
    }

    /// Pays by card, on the card page. After the problem possible_duplicate_purchase, ask the buyer; yes is again.
    /// The documents are those that the app shows above the button.
    func pay(_ documents: [Document], again: Bool? = nil) async {
        guard let now = registration, now.can("pay", "card") else { return }
        let returnUrl = "https://\(returnHost)/?registration=\(now.id)"
        var agreements = now.order?.agreements ?? []
        for i in agreements.indices { // in the very bytes that the app shows above the button
            agreements[i].sha256 = documents.first { $0.document == agreements[i].document && $0.version == agreements[i].version }?.sha256
        }
        await act("payment", StartCardPayment(cart: now.cart.revision, returnUrl: returnUrl, again: again, agreements: agreements))
        if problem == nil { await showPaymentPage() }
    }

    /// Shows the card page, and reads the registration when it closes, because the return proves nothing. While there is a
    /// redirectUrl, a button should offer the page: the buyer may have closed it.
    func showPaymentPage() async {
        guard let address = registration?.payment?.card?.redirectUrl, let url = URL(string: address) else { return }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let page = ASWebAuthenticationSession(url: url, callback: .https(host: returnHost, path: "/")) { _, _ in done.resume() }
            page.presentationContextProvider = self
            self.page = page
            if !page.start() { done.resume() }
        }
        page = nil
        await open()
    }

    /// Follows the registration until it can no longer change, reconnecting when a stream ends.
    func followToTheEnd() async {
        while let session, registration?.final != true, !Task.isCancelled {
            do {
                for try await latest in api.follow(session.id, token: session.token) {
                    show(latest)
                    if latest.final { return }
                }
            } catch {
                try? await Task.sleep(for: .seconds(2))
            }
            try? await Task.sleep(for: .seconds(1))
            await attempt { try await self.refresh() } // ends the session if the registration is forgotten
        }
    }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { ASPresentationAnchor() }

    // MARK: Internals

    private func act<Body: Encodable>(_ path: String, _ body: Body?) async {
        if let session { await want("/v1/registrations/\(session.id)/\(path)", body) }
    }

    /// Stores the intention, then sends it. The same wish after a lost response is the same intention, with its key.
    private func want<Body: Encodable>(_ path: String, _ body: Body?) async {
        await attempt {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys // equal bodies have equal texts
            var intention = Intention(path: path, body: try body.map { try encoder.encode($0) }, key: UUID().uuidString)
            let pending: Intention? = Vault.read("intention")
            if let pending, pending.path == path, pending.body == intention.body { intention = pending }
            try Vault.write(intention, "intention") // before it is sent
            try await self.carryOut(intention)
        }
    }

    private func carryOut(_ intention: Intention) async throws {
        // The token belongs to one registration, so it is not sent when another one starts.
        let token = intention.path.hasPrefix("/v1/registrations/") ? session?.token : nil
        do {
            let answer: Registration = try await api.send("POST", intention.path, body: intention.body, key: intention.key, token: token)
            if let token = answer.token { try Vault.write(Session(id: answer.id, token: token), "session") }
            show(answer)
        } catch let definitive as Problem where definitive.then != "send_again" {
            try Vault.write(nil as Intention?, "intention")
            throw definitive
        } // any other error keeps the intention: open() sends it again
        try Vault.write(nil as Intention?, "intention")
    }

    private func showConsents(of session: Session) async throws {
        let list: ConsentList = try await api.send("GET", "/v1/registrations/\(session.id)/consents", token: session.token)
        consents = list.items
    }

    private func refresh() async throws {
        guard let session else { return }
        show(try await api.send("GET", "/v1/registrations/\(session.id)", token: session.token))
    }

    /// Shows a registration, unless a newer response has overtaken it.
    private func show(_ latest: Registration) {
        if let shown = registration, shown.id == latest.id, latest.sequence < shown.sequence { return }
        registration = latest
    }

    private func attempt(_ work: () async throws -> Void) async {
        problem = nil
        do {
            try await work()
        } catch let refused as Problem {
            problem = refused
            if refused.then == "start_again" {
                try? Vault.write(nil as Session?, "session")
                registration = nil
            } else {
                try? await refresh() // a refusal can change what is shown: the amount, or the attempts left
            }
        } catch {
            if Task.isCancelled { return } // the view is gone
            problem = Problem(code: "offline", then: "send_again", title: "No answer", detail: nil, traceId: nil, errors: nil)
        }
    }
}
