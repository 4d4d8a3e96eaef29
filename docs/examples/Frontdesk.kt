// Frontdesk for Android: models, client, keys that survive a crash, and a complete signup.
// Needs com.squareup.okhttp3:okhttp and okhttp-sse (4.12 or 5), kotlinx-serialization-json with Kotlin's serialization
// plugin, kotlinx-coroutines-android, androidx.browser:browser, and the permission android.permission.INTERNET.
package club.example.frontdesk

import android.content.Context
import android.net.Uri
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import android.util.Base64
import androidx.browser.customtabs.CustomTabsIntent
import java.io.IOException
import java.security.GeneralSecurityException
import java.security.KeyStore
import java.util.Locale
import java.util.UUID
import java.util.concurrent.TimeUnit
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.catch
import kotlinx.coroutines.flow.firstOrNull
import kotlinx.coroutines.withContext
import kotlinx.serialization.Serializable
import kotlinx.serialization.encodeToString
import kotlinx.serialization.json.Json
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response
import okhttp3.sse.EventSource
import okhttp3.sse.EventSourceListener
import okhttp3.sse.EventSources

// The API's types that a signup needs. Names and nullables are those of openapi.yaml.

@Serializable data class Money(val amount: Long, val currency: String) // amount in cents

@Serializable data class ClubList(val items: List<Club>)

@Serializable data class Club(val id: String, val name: String, val address: PostalAddress? = null)

@Serializable data class ClubDetails(val id: String, val name: String, val startDates: DateRange? = null)

@Serializable data class PostalAddress(val city: String, val street: String? = null, val postalCode: String? = null)

@Serializable data class DateRange(val earliest: String, val latest: String) // in the club's time zone, not the phone's

@Serializable data class ProductList(val items: List<Product>, val next: String? = null)

@Serializable data class Product(val id: String, val name: String, val offers: List<Offer>, val description: String? = null)

@Serializable data class Offer( // needs: startDate, debit and mandate; debitChoice says which day a debit can have
    val id: String, val name: String, val dueToday: DueToday, val needs: List<String>, val debitChoice: String,
    val highlight: Boolean? = null,
)

@Serializable data class DueToday(val price: Money)

@Serializable data class DebitDayList(val items: List<DebitDay>)

@Serializable data class DebitDay(val day: Int, val date: String) // the next date with this day of the month

@Serializable data class Address(val street: String, val postalCode: String, val city: String, val country: String)

@Serializable data class Person( // birthDate as 1990-05-17, mobile as +33612345678
    val givenName: String, val familyName: String, val birthDate: String, val email: String, val mobile: String, val address: Address,
    val guardian: Guardian? = null,
)

@Serializable data class Guardian( // concludes the contract of a minor; relation: parent or legal_guardian
    val givenName: String, val familyName: String, val relation: String, val phone: String, val email: String? = null,
)

@Serializable data class NewItem(val offerId: String, val startDate: String? = null, val debit: Debit? = null)

@Serializable data class Debit(val day: Int? = null, val weekDay: Int? = null)

@Serializable data class StartRegistration(val clubId: String, val person: Person? = null, val items: List<NewItem>? = null)

@Serializable data class NewMandate(val holder: String, val iban: String)

@Serializable data class Signature(val code: String)

@Serializable data class StartCardPayment(
    val method: String,
    val cart: String? = null,
    val returnUrl: String? = null,
    val again: Boolean? = null,
    val agreements: List<Agreement>? = null,
)

@Serializable data class Agreement(val document: String, val version: String, val sha256: String? = null)

@Serializable data class DocumentList(val items: List<Document>)

@Serializable data class Document(val document: String, val version: String, val url: String, val sha256: String)

@Serializable data class Order(val agreements: List<Agreement>? = null)

@Serializable data class Resumption(val resume: String)

@Serializable data class ResumeLink(val url: String, val expiresAt: String)

@Serializable data class ConsentList(val items: List<Consent>)

@Serializable data class Consent( // such as news by email; a locked one is mandatory information, and cannot be withdrawn
    val id: String, val channel: String, val type: String, val authorized: Boolean, val locked: Boolean,
)

@Serializable data class ConsentWish(val id: String, val authorized: Boolean)

@Serializable data class ChangeConsents(val items: List<ConsentWish>, val wording: String? = null)

@Serializable data class Registration(
    val id: String,
    val sequence: Long,
    val token: String? = null, // only of a start or a resumption
    val step: String, // the screen to show; for one that you do not know, show the message and what can be done
    val final: Boolean,
    val message: Message,
    val cart: Cart,
    val order: Order? = null,
    val mandate: Mandate? = null,
    val payment: Payment? = null,
    val next: List<Action>,
) {
    /** Whether an action is possible now, and with which method. If not, hide its button. */
    fun can(action: String, method: String? = null) =
        next.any { it.action == action && (method == null || method in it.methods.orEmpty()) }
}

@Serializable data class Message(val code: String, val text: String) // a Text of the contract; Compose has that name, too

@Serializable data class Cart(val revision: String, val items: List<CartItem>, val dueNow: Money, val valid: Boolean, val problems: List<Message>)

@Serializable data class CartItem(val name: String, val price: Money)

@Serializable data class Action(val action: String, val methods: List<String>? = null)

@Serializable data class Mandate(val state: String, val iban: String, val attemptsLeft: Int? = null, val resendIn: Int? = null)

@Serializable data class Payment(val id: String, val state: String, val total: Money, val card: CardDetails? = null)

@Serializable data class CardDetails(val redirectUrl: String? = null, val declineCode: String? = null)

@Serializable data class FieldProblem(val text: String, val pointer: String? = null)

@Serializable data class Problem(
    val code: String, val then: String, val title: String, val detail: String? = null, val traceId: String? = null,
    val errors: List<FieldProblem>? = null,
)

/** A request that did not succeed. */
class Refused(val problem: Problem) : Exception(problem.code)

private val json = Json { ignoreUnknownKeys = true; explicitNulls = false } // omits absent fields instead of sending null

/** Decodes a response. A text that Frontdesk did not send, such as a proxy's error page, counts as no response. */
private inline fun <reified T> decode(text: String): T = try {
    json.decodeFromString<T>(text)
} catch (foreign: IllegalArgumentException) {
    throw IOException("the response is not Frontdesk's", foreign)
}

private class Answer(val ok: Boolean, val retryAfter: Long?, val text: String)

/**
 * The client. With "adb reverse tcp:8080 tcp:8080" the default address leads from a phone or an emulator to the computer.
 * Debug builds must allow cleartext traffic to it.
 */
class Frontdesk(private val base: String = "http://localhost:8080") {
    // OkHttp's own retries are off, because this class decides what is repeated, and when.
    private val http = OkHttpClient.Builder().retryOnConnectionFailure(false).callTimeout(40, TimeUnit.SECONDS).build()
    private val streams = http.newBuilder().callTimeout(0, TimeUnit.SECONDS).readTimeout(45, TimeUnit.SECONDS).build()

    /** Sends a request, and repeats it while that is safe and may help. Returns the body of the response. */
    suspend fun send(method: String, path: String, body: String? = null, key: String? = null, token: String? = null): String {
        val payload = body?.toRequestBody("application/json".toMediaType()) ?: if (method == "POST") ByteArray(0).toRequestBody() else null
        val request = request(path, token).method(method, payload).apply { key?.let { header("Idempotency-Key", it) } }.build()
        val repeatable = method != "POST" || key != null // a read may always be repeated, and so may a POST with a key
        for (pause in listOf(1L, 2L, 4L, 0L)) {
            val last = !repeatable || pause == 0L
            try {
                val answer = withContext(Dispatchers.IO) {
                    http.newCall(request).execute().use { Answer(it.isSuccessful, it.header("Retry-After")?.toLongOrNull(), it.body!!.string()) }
                }
                if (answer.ok) return answer.text
                val problem = decode<Problem>(answer.text)
                val wait = answer.retryAfter ?: pause
                if (last || problem.then != "send_again" || wait > 15) throw Refused(problem) // too long for a spinner
                delay(1000 * maxOf(wait, pause))
            } catch (lost: IOException) {
                if (last) throw lost
                delay(1000 * pause) // no response: send the same request with the same key
            }
        }
        throw IOException("no answer")
    }

    suspend fun clubs(): List<Club> = decode<ClubList>(send("GET", "/v1/clubs")).items

    suspend fun club(id: String): ClubDetails = decode(send("GET", "/v1/clubs/$id"))

    /** Returns all that a club sells, which takes a request for each page. */
    suspend fun products(club: String, cursor: String = ""): List<Product> {
        val page = decode<ProductList>(send("GET", "/v1/clubs/$club/products?cursor=$cursor"))
        return page.items + (page.next?.let { products(club, it) } ?: emptyList())
    }

    /** The days of the month on which a club debits, for offers with the debitChoice month_day. Without a day, the club chooses. */
    suspend fun debitDays(club: String, startDate: String): List<DebitDay> =
        decode<DebitDayList>(send("GET", "/v1/clubs/$club/debit-days?startDate=$startDate")).items

    /** What a club's buyers agree to. Link each that the order names above its button; list them again after agreement_missing. */
    suspend fun documents(club: String): List<Document> = decode<DocumentList>(send("GET", "/v1/clubs/$club/documents")).items

    /** Returns the registration at each change (server-sent events). The stream ends with the connection; read the registration again then. */
    fun follow(id: String, token: String): Flow<Registration> = callbackFlow {
        val request = request("/v1/registrations/$id/events", token)
        val source = EventSources.createFactory(streams).newEventSource(request.build(), object : EventSourceListener() {
            override fun onEvent(eventSource: EventSource, id: String?, type: String?, data: String) {
                if (type == "registration") trySend(decode<Registration>(data)) // after "end" the gateway closes the stream
            }
            override fun onClosed(eventSource: EventSource) { close() }
            override fun onFailure(eventSource: EventSource, t: Throwable?, response: Response?) { close(t ?: IOException("${response?.code}")) }
        })
        awaitClose { source.cancel() }
    }

    private fun request(path: String, token: String?) = Request.Builder().url(base + path).apply {
        header("Accept-Language", Locale.getDefault().toLanguageTag()) // of the texts
        token?.let { header("Authorization", "Bearer $it") }
    }
}

/** Stores data that survives a crash, a reboot and an update, sealed with a key that does not leave the device's key store. */
class Vault(context: Context) {
    private val kept = context.getSharedPreferences("frontdesk", Context.MODE_PRIVATE)

    fun read(name: String): String? = try {
        kept.getString(name, null)?.let {
            val sealed = Base64.decode(it, Base64.NO_WRAP)
            val cipher = Cipher.getInstance(SCHEME)
            cipher.init(Cipher.DECRYPT_MODE, key(), GCMParameterSpec(128, sealed, 0, IV))
            String(cipher.doFinal(sealed, IV, sealed.size - IV))
        }
    } catch (unreadable: GeneralSecurityException) {
        null // a backup of another device, whose key store has the key
    }

    fun write(name: String, value: String?) {
        val sealed = value?.let {
            val cipher = Cipher.getInstance(SCHEME)
            cipher.init(Cipher.ENCRYPT_MODE, key())
            Base64.encodeToString(cipher.iv + cipher.doFinal(it.toByteArray()), Base64.NO_WRAP)
        }
        check(kept.edit().putString(name, sealed).commit()) { "not written" } // commit writes to disk before anything is sent
    }

    private fun key(): SecretKey {
        val store = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }
        (store.getKey("frontdesk", null) as SecretKey?)?.let { return it }
        val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
        val spec = KeyGenParameterSpec.Builder("frontdesk", purposes)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM).setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE).build()
        return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, "AndroidKeyStore").apply { init(spec) }.generateKey()
    }

    private companion object {
        const val SCHEME = "AES/GCM/NoPadding"
        const val IV = 12 // bytes, the length that the key store uses
    }
}

/** The registration and the token that proves it. */
@Serializable data class Session(val id: String, val token: String)

/**
 * An action of the buyer: a request with its key. It is stored before it is first sent, and deleted after a definitive
 * response. After a crash in between, the same request is sent again and carried out once.
 */
@Serializable data class Intention(val path: String, val body: String?, val key: String)

/**
 * The signup; keep it in a ViewModel. The activity runs repeatOnLifecycle(STARTED) { signup.open(); signup.followToTheEnd() },
 * so that the registration is read whenever the app appears: at its start, and when the buyer returns from the card page.
 */
class Signup(private val vault: Vault, private val api: Frontdesk = Frontdesk()) {
    val registration = MutableStateFlow<Registration?>(null)
    val problem = MutableStateFlow<Problem?>(null)
    val consents = MutableStateFlow<List<Consent>>(emptyList())

    private val session: Session? get() = vault.read("session")?.let { json.decodeFromString(it) }
    private val pending: Intention? get() = vault.read("intention")?.let { json.decodeFromString(it) }

    /** Continues where the app stopped. */
    suspend fun open() = attempt {
        pending?.let { carryOut(it) }
        refresh()
    }

    /** Creates the contact and the cart, adds the item and checks the cart, with one call. */
    suspend fun start(club: String, item: NewItem, person: Person) =
        want("/v1/registrations", json.encodeToString(StartRegistration(club, person, listOf(item))))

    /** Names who concludes a minor's contract, at the step guardian. Sent twice, it has the same effect, so it needs no key. */
    suspend fun setGuardian(guardian: Guardian) = attempt {
        session?.let {
            show(decode<Registration>(api.send("PUT", "/v1/registrations/${it.id}/guardian", json.encodeToString(guardian), token = it.token)))
        }
    }

    /** Direct debit. The code arrives by SMS; the SMS User Consent API can read it. */
    suspend fun giveMandate(holder: String, iban: String) = act("mandate", json.encodeToString(NewMandate(holder, iban)))

    suspend fun sign(code: String) = act("mandate/signature", json.encodeToString(Signature(code)))

    suspend fun resendCode() = act("mandate/signature/resend", null)

    /** Resumes a registration from another device, by the link https://signup.club.example/?resume=… */
    suspend fun resume(link: Uri) {
        val resume = link.getQueryParameter("resume") ?: return
        want("/v1/resumptions", json.encodeToString(Resumption(resume)))
    }

    /** Returns a link that continues on another device, once. Each one replaces the last, so it needs no stored intention. */
    suspend fun resumeLink(): String? {
        var link: String? = null
        attempt {
            val held = session ?: return@attempt
            val key = UUID.randomUUID().toString()
            link = decode<ResumeLink>(api.send("POST", "/v1/registrations/${held.id}/resume-link", key = key, token = held.token)).url
        }
        return link
    }

    /** Reads what the club may send, while next has consents. Show each that is not locked as an option, never as a condition. */
    suspend fun readConsents() = attempt { session?.let { showConsents(it) } }

    /** Gives or withdraws consents; wording is the app's name for the text that the buyer saw. What failed shows as it was. */
    suspend fun setConsents(chosen: List<ConsentWish>, wording: String) = attempt {
        session?.let {
            val body = json.encodeToString(ChangeConsents(chosen, wording))
            api.send("PATCH", "/v1/registrations/${it.id}/consents", body, token = it.token) // sent twice, it has the same effect
            showConsents(it)
        }
    }

    /**
     * Pays by card, on the card page. The page leads back to an App Link of the app, which FRONTDESK_ALLOWED_ORIGINS must
     * allow. After the problem possible_duplicate_purchase, ask the buyer; yes is again. The documents are those that the app
     * shows above the button.
     */
    suspend fun pay(context: Context, documents: List<Document>, again: Boolean = false) {
        val now = registration.value?.takeIf { it.can("pay", "card") } ?: return
        val back = "https://signup.club.example/?registration=${now.id}"
        val agreed = now.order?.agreements.orEmpty().map { needed -> // in the very bytes that the app shows above the button
            needed.copy(sha256 = documents.find { it.document == needed.document && it.version == needed.version }?.sha256)
        }
        act("payment", json.encodeToString(StartCardPayment("card", now.cart.revision, back, if (again) true else null, agreed)))
        if (problem.value == null) showPaymentPage(context)
    }

    /** Shows the card page. While there is a redirectUrl, a button should offer it: the buyer may have closed the page. */
    fun showPaymentPage(context: Context) {
        val page = registration.value?.payment?.card?.redirectUrl ?: return
        CustomTabsIntent.Builder().build().launchUrl(context, Uri.parse(page))
    }

    /** Follows the registration until it can no longer change, reconnecting when a stream ends. */
    suspend fun followToTheEnd() {
        while (true) {
            val held = session ?: return
            val end = api.follow(held.id, held.token).catch { delay(2000) }.firstOrNull {
                show(it)
                it.final
            }
            if (end != null) return
            delay(1000)
            attempt { refresh() } // ends the session if the registration is forgotten
        }
    }

    private suspend fun act(path: String, body: String?) {
        session?.let { want("/v1/registrations/${it.id}/$path", body) }
    }

    /** Stores the intention, then sends it. The same wish after a lost response is the same intention, with its key. */
    private suspend fun want(path: String, body: String?) = attempt {
        val intention = pending?.takeIf { it.path == path && it.body == body } ?: Intention(path, body, UUID.randomUUID().toString())
        vault.write("intention", json.encodeToString(intention)) // before it is sent
        carryOut(intention)
    }

    private suspend fun carryOut(intention: Intention) {
        // The token belongs to one registration, so it is not sent when another one starts.
        val token = if (intention.path.startsWith("/v1/registrations/")) session?.token else null
        try {
            val answer = decode<Registration>(api.send("POST", intention.path, intention.body, intention.key, token))
            answer.token?.let { vault.write("session", json.encodeToString(Session(answer.id, it))) }
            show(answer)
        } catch (refused: Refused) {
            if (refused.problem.then != "send_again") vault.write("intention", null)
            throw refused // any other error keeps the intention: open() sends it again
        }
        vault.write("intention", null)
    }

    private suspend fun showConsents(of: Session) {
        consents.value = decode<ConsentList>(api.send("GET", "/v1/registrations/${of.id}/consents", token = of.token)).items
    }

    private suspend fun refresh() {
        val held = session ?: return
        show(decode<Registration>(api.send("GET", "/v1/registrations/${held.id}", token = held.token)))
    }

    /** Shows a registration, unless a newer response has overtaken it. */
    private fun show(latest: Registration) {
        val shown = registration.value
        if (shown == null || shown.id != latest.id || latest.sequence >= shown.sequence) registration.value = latest
    }

    private suspend fun attempt(work: suspend () -> Unit) {
        problem.value = null
        try {
            work()
        } catch (refused: Refused) {
            problem.value = refused.problem
            if (refused.problem.then == "start_again") {
                vault.write("session", null)
                registration.value = null
            } else {
                runCatching { refresh() } // a refusal can change what is shown: the amount, or the attempts left
            }
        } catch (lost: IOException) {
            problem.value = Problem("offline", "send_again", "No answer")
        }
    }
}
